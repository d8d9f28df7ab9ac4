"""Options of the bound over all columns, for `fit` and for `certify`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from backbone_dask.certificate import Certify

_DEFAULTS = Certify()
_HELP = {
    "passes": f"Most passes over all columns.  [default: {_DEFAULTS.passes}]",
    "tolerance": f"Gap over all columns that is small enough.  [default: {_DEFAULTS.tolerance:g}]",
    "columns": f"Most columns that may be priced in.  [default: {_DEFAULTS.columns:,}]",
    "seconds": "No pass begins later than this.  [default: no limit]",
}
_KINDS: dict[str, type] = {"passes": int, "tolerance": float, "columns": int, "seconds": float}


def limit_options(prefix: str = "") -> Callable[..., Any]:
    """Options for what ends pricing, whose names begin with a prefix; `limits_from` reads them."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for name in reversed(_KINDS):
            command = click.option(f"--{prefix}{name}", type=_KINDS[name], help=_HELP[name])(command)
        return command

    return add


def certify_options(command: Any) -> Any:
    """--certify, and what ends it; `certify_from` reads them."""
    words = "Price all columns afterwards, for a bound over all of them; columns that are missing come back."
    flag: Callable[..., Any] = click.option("--certify", is_flag=True, help=words)
    return flag(limit_options("certify-")(command))


def limits_from(options: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Takes the limits that were given out of `options`."""
    found = {name: options.pop(f"{prefix}{name}") for name in _KINDS}
    return {name: value for name, value in found.items() if value is not None}


def certify_from(options: dict[str, Any]) -> None:
    """Puts what --certify and its limits ask for in the place of `certify`."""
    limits = limits_from(options, "certify_")
    if limits and not options["certify"]:
        raise click.UsageError(f"--certify-{next(iter(limits))} needs --certify")
    options["certify"] = limits or options["certify"]
