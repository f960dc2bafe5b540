"""Trainers: what a network learns from, as Lightning modules."""
