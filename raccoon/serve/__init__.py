"""A page on this machine where people ask a player about positions, play against it and look at matches."""
