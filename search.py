"""Analyse positions: python search.py --help."""

from raccoon.cli.search import main

if __name__ == "__main__":
    main()
