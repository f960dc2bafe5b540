"""Figures of the default net on the pages say which net they are of: ``net `eeab935c` ``, the first eight digits of the SHA-256 of its
file, or ``earlier net `f4a1ca27` `` for one that shipped before."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"])
SHIPPED = hashlib.sha256((ROOT / "raccoon" / "assets" / "default.pt").read_bytes()).hexdigest()[:8]
_MARK = re.compile(r"(earlier\s+)?\bnet\s+`([0-9a-f]{8})`")
_NAMED = re.compile(r"default\s+net|net default\b|\| `?default\b|\bnet-[012]ply|\bdefault v ")
_FIGURE = re.compile(r"(?<![\w.])[+-]?\d*\.\d{2,}(?!\w)")


def wrong_marks(text: str, shipped: str) -> list[str]:
    """The marks that tell the present net by another one's digits, or call it an earlier one."""
    return [found[0] for found in _MARK.finditer(text) if (found[2] == shipped) == bool(found[1])]


def unmarked(text: str) -> list[str]:
    """The headings of the sections that name the default net and give figures, and do not say of which net."""
    sections = re.split(r"^(?=#{1,4} )", text, flags=re.MULTILINE)
    shown = [section for section in sections if _NAMED.search(section) and _FIGURE.search(section)]
    return [section.splitlines()[0] for section in shown if not _MARK.search(section)]


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_figures_of_the_default_net_say_of_which_net(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert unmarked(text) == [], f"write net `{SHIPPED}` there if the figures are of the net that ships, else earlier net `....`"
    assert wrong_marks(text, SHIPPED) == [], (
        f"raccoon/assets/default.pt is net `{SHIPPED}`: measure these figures again and write so, or put the word earlier before net"
    )


def test_what_is_wrong_is_found() -> None:
    good = "# Page\n\nThe default net (net `0123abcd`) has .123.\n\n## Old\n\nOf an earlier\nnet `ffff0000`:\n\n| `default` | 1.25 |\n"
    assert (unmarked(good), wrong_marks(good, "0123abcd")) == ([], [])
    assert wrong_marks(good, "ffff0000") == ["net `0123abcd`", "earlier\nnet `ffff0000`"]
    assert unmarked(good.replace("earlier\nnet `ffff0000`", "net of last year")) == ["## Old"]
    assert unmarked("# Page\n\nThe default net has two heads.\n\n## GNUBG\n\n| gnubg0 | 2.17 |\n") == []
