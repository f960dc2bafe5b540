"""Sets of labelled positions on disk: rows, shards, how they are made and relabelled."""
