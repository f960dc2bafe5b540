"""Files, read whole or not at all and written whole or not at all."""

from raccoon.files.read_write import (
    atomic,
    check_suffix,
    file_digest,
    json_text,
    open_regular,
    parse_json,
    read_bounded,
    read_json,
    read_regular,
    remove_left_over,
    write_csv,
    write_json,
    write_text,
)

__all__ = [
    "atomic",
    "check_suffix",
    "file_digest",
    "json_text",
    "open_regular",
    "parse_json",
    "read_bounded",
    "read_json",
    "read_regular",
    "remove_left_over",
    "write_csv",
    "write_json",
    "write_text",
]
