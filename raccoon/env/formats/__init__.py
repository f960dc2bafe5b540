"""Positions as other programs write them: XGID, GNUBG ID, 26 numbers, a diagram."""
