"""One table over the runs of a sweep."""
