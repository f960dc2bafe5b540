from __future__ import annotations

import subprocess
import sys


def test_no_name_of_the_facade_needs_torch() -> None:
    code = "import sys, raccoon.env as e; [getattr(e, n) for n in e.__all__]; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
