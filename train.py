"""Train a network: python train.py --help."""

from raccoon.cli.train import main

if __name__ == "__main__":
    main()
