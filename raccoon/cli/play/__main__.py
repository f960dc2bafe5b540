"""``python -m raccoon.cli.play``."""

from raccoon.cli.play.program import main

main()
