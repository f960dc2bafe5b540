"""Third-party packages and the catalogue of options. No torch is imported here.

A package adds options with one entry point in the group ``raccoon.plugins``: the name is the prefix of its options,
the value a Python package that holds config groups, laid out like Raccoon's own ``conf``. Nothing else is registered:
a target in those files may be any class in the package's top-level module, or a function there that makes the object.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from raccoon.aliases import public

__all__ = ["CONF", "Plugin", "catalogue", "defaults", "install", "option_targets", "plugin_packages", "plugins"]

CONF = "raccoon.conf"
GROUP = "raccoon.plugins"


@dataclass(frozen=True)
class Plugin:
    """An installed third-party package: option prefix, config package, distribution."""

    name: str
    conf: str
    distribution: str


@functools.cache
def plugins() -> tuple[Plugin, ...]:
    """Plugins that import cleanly, sorted by name. A broken one is named in a warning and left out."""
    found = []
    for entry in sorted(importlib.metadata.entry_points(group=GROUP), key=lambda e: e.name):
        distribution = entry.dist.name if entry.dist else "unknown"
        try:
            importlib.import_module(entry.module)
            if not files(entry.module).is_dir():
                raise ImportError(f"{entry.module} holds no config groups")
        except Exception as error:  # whatever a stranger's package raises must not stop Raccoon
            warnings.warn(f"plugin {entry.name} of the distribution {distribution} is left out: {error!r}", stacklevel=2)
            continue
        found.append(Plugin(entry.name, entry.module, distribution))
    return tuple(found)


def plugin_packages() -> tuple[str, ...]:
    """Top-level modules of the plugins."""
    return tuple(dict.fromkeys(plugin.conf.split(".")[0] for plugin in plugins()))


@functools.cache
def option_targets() -> frozenset[str]:
    """Every ``_target_`` that an option file of Raccoon or a plugin names."""
    texts = (text for package in (CONF, *(plugin.conf for plugin in plugins())) for text in _texts(files(package)))
    return frozenset(public(name) for text in texts for name in re.findall(r"^\s*_target_:\s*([\w.]+)", text, re.MULTILINE))


def _texts(folder: Traversable) -> Iterator[str]:
    for item in folder.iterdir():
        if item.is_dir() and not item.name.startswith(("_", ".")):
            yield from _texts(item)
        elif item.name.endswith(".yaml"):
            yield item.read_text(encoding="utf-8")


@functools.cache
def install() -> None:
    """Make Hydra see the plugins' options; call it before ``hydra.main`` or the compose API."""
    # imported late: --help needs the catalogue and not Hydra
    from hydra.core.config_search_path import ConfigSearchPath
    from hydra.core.plugins import Plugins
    from hydra.plugins.search_path_plugin import SearchPathPlugin

    class RaccoonSearchPath(SearchPathPlugin):
        """Appends the plugins' config packages; appended paths cannot shadow a built-in option."""

        def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
            for plugin in plugins():
                search_path.append(f"raccoon-plugin-{plugin.name}", f"pkg://{plugin.conf}")

    Plugins.instance().register(RaccoonSearchPath)


def catalogue() -> dict[str, dict[str, str]]:
    """``{group: {option: provider}}``, sorted; the provider is ``raccoon`` or the distribution of a plugin."""
    found: dict[str, dict[str, str]] = {}
    for package, provider in [(CONF, "raccoon"), *((p.conf, p.distribution) for p in plugins())]:
        _scan(files(package), "", provider, found)
    return {group: dict(sorted(found[group].items())) for group in sorted(found)}


def _scan(folder: Traversable, group: str, provider: str, found: dict[str, dict[str, str]]) -> None:
    for item in folder.iterdir():
        if item.is_dir() and not item.name.startswith(("_", ".")):
            _scan(item, f"{group}/{item.name}" if group else item.name, provider, found)
        elif group and item.name.endswith(".yaml"):
            name = item.name.removesuffix(".yaml")
            first = found.setdefault(group, {}).setdefault(name, provider)
            if first != provider:
                warnings.warn(f"{group}={name} of {provider} is never seen: {first} has that name; prefix it", stacklevel=2)


def defaults(root: str) -> dict[str, str]:
    """``{group: option}`` that the root config (``train``, ``evaluate``) takes when nothing is said."""
    import yaml

    entries: list[Any] = yaml.safe_load(files(CONF).joinpath(f"{root}.yaml").read_text(encoding="utf-8")).get("defaults", [])
    chosen = {key: value for entry in entries if isinstance(entry, dict) for key, value in entry.items()}
    return {key: "null" if value is None else str(value) for key, value in chosen.items() if " " not in key}
