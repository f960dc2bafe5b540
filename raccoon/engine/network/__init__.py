"""Engines that run a network: what they share, and those that need no torch."""
