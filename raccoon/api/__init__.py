"""Raccoon from Python: players by name, positions by id, analyses, arenas. Its names are those of ``raccoon`` itself."""
