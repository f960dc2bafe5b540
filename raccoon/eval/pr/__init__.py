"""Performance rating on a benchmark: checker plays, cube decisions, tables over players and searches."""
