"""Exact bear-offs: chances from tables that are computed once and kept."""
