"""The config of a program from its options, without running it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omegaconf import DictConfig

__all__ = ["compose", "settled"]

_SIZES = "_sizes_"
"""Marks, in options of the group ``debug``, sizes of something that another option may have left out."""


def compose(root: str, overrides: list[str] | None = None) -> Any:
    """The composed config (DictConfig) of a root, plugins included: for tests, notebooks and benchmarks."""
    import hydra

    from raccoon import plugins
    from raccoon.cli.program import former
    from raccoon.runs import places

    plugins.install()
    places.register_resolvers()
    with hydra.initialize_config_module(plugins.CONF, version_base="1.3"):
        return settled(hydra.compose(root, former.understood(overrides or [])))


def settled(cfg: DictConfig) -> DictConfig:
    """``cfg`` without the marks of sizes: a node that has nothing else was null, and is null again."""
    from omegaconf import DictConfig, open_dict

    with open_dict(cfg):
        for key in list(cfg):
            node = cfg._get_node(key)
            if not isinstance(node, DictConfig) or node._is_none() or node._is_interpolation() or node._is_missing():
                continue
            settled(node)
            if node.get(_SIZES) is not None:
                with open_dict(node):
                    del node[_SIZES]
                if "_target_" not in node:
                    cfg[key] = None
    return cfg
