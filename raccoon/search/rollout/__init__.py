"""Rollouts: games to the end or to a truncation, with quasi-random dice."""
