"""What references are worth: their noise, and two sets of them for the same decisions."""
