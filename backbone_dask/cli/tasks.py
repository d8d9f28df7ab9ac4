"""The tasks of `fit` and `plan`: which options go with which, and what each prepares and fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, TypeAlias

import click
from click.core import ParameterSource

from backbone_dask.cli.options import extras_from
from backbone_dask.problems.classes import weigh_classes
from backbone_dask.problems.fitting import Fitted, Preparation, fit_sparse, prepare
from backbone_dask.problems.tree_fitting import FittedTree, TreePreparation, fit_tree, prepare_tree
from backbone_dask.protocols import Executor
from backbone_dask.runtime.checkpoint import Journal
from backbone_dask.runtime.events import Listener
from backbone_dask.settings import Settings
from backbone_dask.store import FeatureStore
from backbone_dask.tree_settings import TreeSettings

Prepared: TypeAlias = Preparation | TreePreparation
_SPARSE = {field.name for field in fields(Settings)}
_TREE = {field.name for field in fields(TreeSettings)}
_LINEAR_EXTRAS = {"covariates", "no_intercept", "nonnegative", "groups"}


def usual_task(store: FeatureStore, target: str | None) -> str:
    """What suits a target: numbers are a regression, two classes by name a classification, more of them a tree."""
    return {0: "regression", 2: "classification"}.get(len(store.class_names(target)), "tree")


def prepared(asked: str | None, store: FeatureStore, target: str, options: dict[str, Any]) -> Prepared:
    """Check the options of the command line and the data; what was not given is as the task has it."""
    context, task = click.get_current_context(), asked or usual_task(store, target)
    y, labels = store.target(target), store.class_names(target)
    own, others = (_TREE, _SPARSE | _LINEAR_EXTRAS) if task == "tree" else (_SPARSE, _TREE)
    given = {name for name in options if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    _refuse(context, _words(asked, task, labels), given & (others - own))
    chosen = {name: options[name] for name in given & own}
    if task == "tree":
        weights = store.target(options["weights"]) if options["weights"] else None
        if options["class_weight"] is not None:
            weights = weigh_classes(options["class_weight"], y, weights)
        return prepare_tree(store, y, TreeSettings(**chosen), sample_weight=weights, labels=labels)
    if "n_nonzero" not in chosen:
        raise click.UsageError(
            f"{_words(asked, task, labels)} needs -k, the most features in the model; 'auto' chooses it"
        )
    return prepare(store, y, Settings(**chosen), task=task, extras=extras_from(options, store), labels=labels)


def fitted(ready: Prepared, executor: Executor, *, journal: Journal, listen: Listener) -> Fitted | FittedTree:
    if isinstance(ready, TreePreparation):
        return fit_tree(ready, executor, journal=journal, listen=listen)
    return fit_sparse(ready, executor, journal=journal, listen=listen)


def _words(asked: str | None, task: str, labels: Sequence[str]) -> str:
    """The task in messages, and why it is the task if nobody asked for one."""
    classes = f"{len(labels)} classes by name" if labels else "numbers"
    return f"--task {task}" if asked else f"--task {task} (the usual one of a target of {classes})"


def _refuse(context: click.Context, task: str, strangers: set[str]) -> None:
    for parameter in context.command.params:
        if parameter.name in strangers:
            raise click.UsageError(f"{parameter.opts[-1]} does not go with {task}; leave it out")
