"""A package with an option of every kind; the pages in docs/extending explain them."""
