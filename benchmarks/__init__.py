"""Speed of the hot paths beside their bounds: ``python -m benchmarks [NAME ...]``, NAME being ``movegen`` for bench_movegen.py.

``python -m benchmarks compare FOLDER`` times them in this checkout and in another one, in turns.
``python -m benchmarks.interrupts`` is no measure of speed: it kills and interrupts long jobs and compares what they leave.
"""

__all__: list[str] = []
