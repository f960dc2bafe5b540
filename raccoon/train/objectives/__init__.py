"""Losses and targets as pure tensor functions. No Lightning here."""
