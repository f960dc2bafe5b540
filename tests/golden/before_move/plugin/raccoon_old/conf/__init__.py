"""Its options."""
