"""Checks of settings name the key and say what to give."""

from __future__ import annotations

import math

import pytest

from raccoon.checks import number, whole
from raccoon.contracts import RaccoonError


@pytest.mark.parametrize("wrong", [True, None, "1", math.nan, math.inf, -0.1, 1.1, [0.5]])
def test_what_is_no_number_in_the_range_is_refused(wrong):
    with pytest.raises(RaccoonError, match=r"search\.gate=.*: give points from 0 to 1"):
        number("search.gate", wrong, "points from 0 to 1", most=1.0)


def test_the_ends_of_the_range():
    assert [number("key", value, "one", most=1.0) for value in (0, 0.5, 1)] == [0.0, 0.5, 1.0]
    with pytest.raises(RaccoonError, match="key=0: give more"):
        number("key", 0, "more", above=True)


@pytest.mark.parametrize("wrong", [True, None, "1", 1.0, 0, math.nan])
def test_what_is_no_whole_number_is_refused(wrong):
    with pytest.raises(RaccoonError, match=r"key=.*: give a whole number, 1 or more"):
        whole("key", wrong, 1)
