"""Measure a player: python evaluate.py --help."""

from raccoon.cli.evaluate import main

if __name__ == "__main__":
    main()
