"""A game at a terminal: the session, the lines that a person types, the texts."""
