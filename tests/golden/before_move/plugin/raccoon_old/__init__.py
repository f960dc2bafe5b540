"""A plugin written before the modules moved: it imports and names the old paths."""
