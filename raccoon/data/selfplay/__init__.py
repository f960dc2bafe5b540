"""Learning from games of one's own: games, windows, the processes that play them."""
