"""The config of a program from its options, without running it."""

from __future__ import annotations

from typing import Any

__all__ = ["compose"]


def compose(root: str, overrides: list[str] | None = None) -> Any:
    """The composed config (DictConfig) of a root, plugins included: for tests, notebooks and benchmarks."""
    import hydra

    from raccoon import plugins
    from raccoon.cli.program import former
    from raccoon.runs import places

    plugins.install()
    places.register_resolvers()
    with hydra.initialize_config_module(plugins.CONF, version_base="1.3"):
        return hydra.compose(root, former.understood(overrides or []))
