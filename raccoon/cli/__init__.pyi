from raccoon.cli.program.composing import compose as compose
from raccoon.cli.program.sweep import SweepCallback as SweepCallback
