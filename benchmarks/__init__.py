"""Speed of the hot paths beside their bounds: ``python -m benchmarks [NAME ...]``, NAME being ``movegen`` for bench_movegen.py."""

__all__: list[str] = []
