from __future__ import annotations

import subprocess
import sys

import pytest

import raccoon.env


def test_every_name_of_the_facade_is_there_and_none_needs_torch() -> None:
    code = "import sys, raccoon.env as e; [getattr(e, n) for n in e.__all__]; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert dir(raccoon.env) == raccoon.env.__all__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = raccoon.env.nothing
