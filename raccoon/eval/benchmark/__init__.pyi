from raccoon.eval.benchmark.decisions import Benchmark as Benchmark
from raccoon.eval.benchmark.decisions import CheckerDecisions as CheckerDecisions
from raccoon.eval.benchmark.decisions import CubeDecisions as CubeDecisions
from raccoon.eval.benchmark.loader import EMBEDDED as EMBEDDED
from raccoon.eval.benchmark.loader import load as load
from raccoon.eval.benchmark.loader import locate as locate
