from raccoon.train.callbacks.benchmark_pr import BenchmarkPR as BenchmarkPR
