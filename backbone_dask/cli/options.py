"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any, get_args

import click

from backbone_dask.algorithm.sampling import weights
from backbone_dask.errors import InvalidDataError
from backbone_dask.problems.extras import Extras
from backbone_dask.runtime.files import read_json
from backbone_dask.setting_ranges import CHANCE
from backbone_dask.settings import CHOICES, Settings
from backbone_dask.store import FeatureStore
from backbone_dask.store.schema import MissingPolicy
from backbone_dask.tree_settings import TREE_SOLVERS, TreeSettings

as_json = click.option("--json", "as_json", is_flag=True, help="Print machine-readable output.")
overwrite = click.option("--overwrite", is_flag=True, help="Replace what is there.")
quiet = click.option("--quiet", is_flag=True, help="No progress display.")
task = click.option(
    "--task",
    type=click.Choice(["regression", "classification", "tree"]),
    help="[default: by the target: regression for numbers, classification for two classes by name, tree for more]",
)
target = click.option("--target", help="Name of the target; not needed where the store has only one.")
workers = click.option(
    "--workers", type=click.IntRange(0), help="Worker processes; 0 is this process.  [default: one per core]"
)
missing = click.option(
    "--missing",
    type=click.Choice(get_args(MissingPolicy)),
    help="What stands for NaN: nothing, or the mean of its column.  [default: what the store declares]",
)
locality = click.option(
    "--locality",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help='JSON: which features lie on which host, {"host": [[start, stop], ...]}; workers there read them.',
)
_CLUSTER = (
    click.option(
        "--cluster",
        metavar="local|tcp://...|tls://...|slurm|pbs|sge|lsf|kubernetes",
        default="local",
        show_default=True,
        help="Where the work runs.",
    ),
    click.option(
        "--cluster-config",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="YAML: options of the cluster.",
    ),
    click.option(
        "--workers",
        type=click.IntRange(0),
        help="Worker processes, jobs or pods; 0 runs in this process.  [default: one per core; for a batch system 2]",
    ),
    click.option(
        "--keep-blocks", is_flag=True, help="Workers keep blocks in memory, as far as they fit, for the next pass."
    ),
    click.option("--tls", is_flag=True, help="Encrypt all connections of the cluster with temporary certificates."),
)


def cluster_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say where the work runs; they reach the command as one Place."""

    @wraps(command)
    def placed(**options: Any) -> Any:
        names = [field.name for field in fields(Place)]
        return command(place=Place(**{name: options.pop(name) for name in names}), **options)

    for option in reversed(_CLUSTER):
        placed = option(placed)
    return placed


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command's work runs."""

    cluster: str
    cluster_config: Path | None
    workers: int | None
    keep_blocks: bool
    tls: bool

    @property
    def is_local(self) -> bool:
        return self.cluster == "local"


class OneOrMany(click.ParamType):  # type: ignore[type-arg]
    """A number, several with commas between them, or one word."""

    several, also = "[,...]", " nor several with commas between them"

    def __init__(self, kind: type[int] | type[float], word: str | None = None) -> None:
        self.kind, self.word = kind, word
        self.name = f"{'INTEGER' if kind is int else 'FLOAT'}{self.several}{f'|{word}' if word else ''}"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if not isinstance(value, str) or value == self.word:
            return value
        try:
            numbers = [self.kind(part) for part in (value.split(",") if self.several else [value])]
        except ValueError:
            other = f" nor {self.word!r}" if self.word else ""
            self.fail(f"{value!r} is neither a number{self.also}{other}")
        return numbers[0] if len(numbers) == 1 else numbers


class OneOrWord(OneOrMany):
    """A number or one word."""

    several, also = "", ""


class Validation(click.ParamType):  # type: ignore[type-arg]
    """A share with a point, a whole number of folds, or "ebic"."""

    name = "SHARE|FOLDS|ebic"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if not isinstance(value, str) or value == "ebic":
            return value
        try:
            return int(value) if value.isdigit() else float(value)
        except ValueError:
            self.fail(f"{value!r} is neither a share nor a number of folds nor 'ebic'")


_EXTRAS = (
    click.option("--weights", help="Name of the target that holds sample weights."),
    click.option(
        "--class-weight",
        type=click.Choice(["balanced"]),
        help="Give all classes the same weight (classification, trees).",
    ),
    click.option("--covariate", "covariates", multiple=True, help="A feature or a target in every model, unpenalised."),
    click.option("--no-intercept", is_flag=True, help="No intercept."),
    click.option("--nonnegative", is_flag=True, help="No coefficient below 0."),
    click.option(
        "--groups",
        type=click.Path(exists=True, dir_okay=False),
        help="JSON: lists of names or ids that enter together.",
    ),
)


def extras_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that make up Extras; `extras_from` reads them."""
    for option in reversed(_EXTRAS):
        command = option(command)
    return command


def given_json(options: dict[str, Any]) -> dict[str, Any]:
    """What was given besides table and target, by the names that the command line has for it."""
    names = ("weights", "class_weight", "covariates", "no_intercept", "nonnegative", "groups")
    return {name: list(options[name]) if isinstance(options[name], tuple) else options[name] for name in names}


def extras_from(options: dict[str, Any], store: FeatureStore) -> Extras:
    """Takes its options out of `options`."""
    weights, covariates, groups = options.pop("weights"), list(options.pop("covariates")), options.pop("groups")
    return Extras(
        sample_weight=store.target(weights) if weights else None,
        covariates=_covariates(covariates, store) if covariates else None,
        fit_intercept=not options.pop("no_intercept"),
        nonnegative=options.pop("nonnegative"),
        groups=read_json(Path(groups)) if groups else None,
        class_weight=options.pop("class_weight"),
    )


def _covariates(names: list[str], store: FeatureStore) -> Any:
    """Features by name, or targets of the store; not some of each."""
    targets = [name for name in names if name in store.targets]
    if len(targets) == len(names):
        return {name: store.target(name) for name in names}
    if targets:
        raise InvalidDataError(f"--covariate {targets[0]} is a target and others are features; use either")
    return names


_DEFAULTS = Settings()
_SETTINGS = (
    click.option(
        "-k",
        "--n-nonzero",
        type=OneOrMany(int, "auto"),
        help="Most features in the model; several (5,10,20) or 'auto' are chosen from by validation.",
    ),
    click.option(
        "--screen-size",
        type=OneOrWord(int, CHANCE),
        help="Features that survive the screen; of at most as many as by default, 'chance' keeps those that score "
        "higher than any does for shuffled responses.  [default: 4 n, for trees 10 n, at least 1000]",
    ),
    click.option("--screen-rounds", type=int, default=_DEFAULTS.screen_rounds, show_default=True, help="Passes."),
    click.option("--subproblem-fraction", type=float, default=_DEFAULTS.subproblem_fraction, show_default=True),
    click.option("--n-subproblems", type=OneOrWord(int, "auto"), default=_DEFAULTS.n_subproblems, show_default=True),
    click.option("--backbone-max", type=int, default=_DEFAULTS.backbone_max, show_default=True),
    click.option("--sampling", type=click.Choice(weights.names()), default=_DEFAULTS.sampling, show_default=True),
    click.option(
        "--gamma",
        type=OneOrMany(float, "grid"),
        help="Ridge weight; larger is weaker. Several, or 'grid', are chosen from by validation.  [default: 1/sqrt(n)]",
    ),
    click.option(
        "--validation",
        type=Validation(),
        default=_DEFAULTS.validation,
        show_default=True,
        help="Share of samples to train on, number of folds (gamma by the rule of one standard error), or 'ebic'.",
    ),
    click.option("--subproblem", type=click.Choice(CHOICES["subproblem"]), default=_DEFAULTS.subproblem),
    click.option("--subproblem-size", type=click.Choice(CHOICES["subproblem_size"]), default=_DEFAULTS.subproblem_size),
    click.option("--subproblem-gamma", type=OneOrWord(float, "grid"), help="Ridge of subproblems.  [default: --gamma]"),
    click.option("--sample-fraction", type=float, default=_DEFAULTS.sample_fraction, show_default=True),
    click.option(
        "--exact",
        type=click.Choice([*CHOICES["exact"], *TREE_SOLVERS]),
        help=f"How the reduced problem is solved.  [default: {_DEFAULTS.exact}; for trees {TREE_SOLVERS[0]}]",
    ),
    click.option(
        "--time-limit",
        type=float,
        help="Seconds of the exact solve.  "
        f"[default: {_DEFAULTS.time_limit:g}; for trees {TreeSettings().time_limit:g}]",
    ),
    click.option("--seed", type=int, default=_DEFAULTS.seed, show_default=True),
)


def settings_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that make up Settings; `settings_from` reads them."""
    for option in reversed(_SETTINGS):
        command = option(command)
    return command
