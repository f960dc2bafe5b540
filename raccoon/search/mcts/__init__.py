"""Monte Carlo tree search: nodes, walks, expansion, and the search over them."""
