"""Janowski's cube model held against references: which cube-life index fits."""
