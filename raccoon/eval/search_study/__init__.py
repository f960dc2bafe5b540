"""Studies of a search: what its filter loses, what it costs."""
