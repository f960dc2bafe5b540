"""A static page of many runs: read from their folders, drawn as SVG, one self-contained HTML file."""

from raccoon.dashboard.folders import find_runs
from raccoon.dashboard.page import page, write_page
from raccoon.dashboard.records import RunRecord, read_runs

__all__ = ["RunRecord", "find_runs", "page", "read_runs", "write_page"]
