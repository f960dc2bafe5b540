"""A third-party package; importing it must stay cheap, for Raccoon imports it when it starts."""

__all__: list[str] = []
