"""Config groups of the package, laid out as in Raccoon's own conf."""
