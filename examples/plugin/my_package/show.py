"""Print the input of the starting position."""

from raccoon.config.instantiate import build
from raccoon.cli.program.composing import compose
from raccoon.env.board import START
from raccoon.env.encoder import dump_tensor


def show() -> str:
    encoder = build(compose("train", ["encoder=my_race"]).encoder)
    return dump_tensor(encoder.encode(START[None])[0], encoder.channels)
