"""Options of `fit` and `plan` that only trees have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from backbone_dask.cli.options import OneOrMany
from backbone_dask.tree_settings import TREE_SCREENS, TreeSettings

_DEFAULTS = TreeSettings()
_TREES = (
    click.option(
        "--depth",
        type=OneOrMany(int),
        help="Trees: most splits on a path; several (3,4,5) are chosen from by validation.  "
        f"[default: {_DEFAULTS.depth}]",
    ),
    click.option(
        "--min-bucket", type=OneOrMany(float, "auto"), help="Trees: least samples in a leaf.  [default: auto]"
    ),
    click.option(
        "--complexity",
        type=OneOrMany(float, "auto"),
        help="Trees: share of the samples that a split must get right to be worth it.  [default: auto]",
    ),
    click.option(
        "--split-features", type=int, help="Trees: most features in a split; above 1, hyperplanes.  [default: 1]"
    ),
    click.option(
        "--screen",
        type=click.Choice(TREE_SCREENS),
        help=f"Trees: how columns are screened; 'none' keeps all.  [default: {_DEFAULTS.screen}]",
    ),
    click.option(
        "--subproblem-depth", type=OneOrMany(int), help="Trees: depths of subproblems.  [default: from --depth]"
    ),
    click.option(
        "--pricing-rounds",
        type=int,
        help="Trees: rounds in which columns that would improve the tree join the backbone.  "
        f"[default: {_DEFAULTS.pricing_rounds}]",
    ),
    click.option("--n-thresholds", type=int, help="Trees: most thresholds of a feature.  [default: from --exact]"),
    click.option("--n-starts", type=int, help=f"Trees: starts of the local search.  [default: {_DEFAULTS.n_starts}]"),
)


def tree_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that only trees have."""
    for option in reversed(_TREES):
        command = option(command)
    return command
