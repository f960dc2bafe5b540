"""Files of matches: match text, SGF, GNUBG's text export; how they are told apart and put together."""
