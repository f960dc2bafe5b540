"""Arenas: games of two players, their luck, figures, verdicts, short matches."""
