"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import click

from backbone_dask.algorithm.sampling import weights
from backbone_dask.settings import Settings
from backbone_dask.store.schema import MissingPolicy

as_json = click.option("--json", "as_json", is_flag=True, help="Print machine-readable output.")
overwrite = click.option("--overwrite", is_flag=True, help="Replace what is there.")
task = click.option("--task", type=click.Choice(["regression"]), default="regression", show_default=True)
target = click.option("--target", help="Name of the target; not needed where the store has only one.")
missing = click.option(
    "--missing",
    type=click.Choice(get_args(MissingPolicy)),
    help="What stands for NaN: nothing, or the mean of its column.  [default: what the store declares]",
)
workers = click.option(
    "--workers", type=click.IntRange(0), help="Worker processes; 0 runs in this process.  [default: one per core]"
)

_DEFAULTS = Settings()
_SETTINGS = (
    click.option("-k", "--n-nonzero", type=int, required=True, help="Most features in the model."),
    click.option("--screen-size", type=int, help="Features that survive the screen.  [default: 4 n, at least 1000]"),
    click.option("--screen-rounds", type=int, default=_DEFAULTS.screen_rounds, show_default=True, help="Passes."),
    click.option("--subproblem-fraction", type=float, default=_DEFAULTS.subproblem_fraction, show_default=True),
    click.option("--n-subproblems", type=int, default=_DEFAULTS.n_subproblems, show_default=True),
    click.option("--backbone-max", type=int, default=_DEFAULTS.backbone_max, show_default=True),
    click.option("--sampling", type=click.Choice(weights.names()), default=_DEFAULTS.sampling, show_default=True),
    click.option("--gamma", type=float, help="Ridge weight; larger is weaker.  [default: 1/sqrt(n)]"),
    click.option(
        "--time-limit",
        type=float,
        default=_DEFAULTS.time_limit,
        show_default=True,
        help="Seconds of the exact solve.",
    ),
    click.option("--seed", type=int, default=_DEFAULTS.seed, show_default=True),
)


def settings_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that make up Settings; `settings_from` reads them."""
    for option in reversed(_SETTINGS):
        command = option(command)
    return command


def settings_from(options: dict[str, Any]) -> Settings:
    return Settings(**options)
