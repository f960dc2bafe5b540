"""Reports of measurements: their files, their plots, their tables in Weights & Biases."""
