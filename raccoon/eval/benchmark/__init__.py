"""Benchmarks: decisions with the equities of a reference, their files, and how one is made."""
