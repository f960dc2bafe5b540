"""Callbacks of a training run."""
