"""Analysing positions: questions by ID, answers as records."""
