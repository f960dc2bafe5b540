"""The configuration groups; installed as the package ``raccoon.conf``."""

__all__: list[str] = []
