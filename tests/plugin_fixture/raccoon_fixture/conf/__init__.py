"""Its options."""

__all__: list[str] = []
