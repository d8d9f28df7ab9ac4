"""One experiment of the paper: what is run, how it is counted, and what the paper found."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, Literal

Case = Mapping[str, Any]
"""One fit of one method on one data set: words and numbers only, so that it has a name of its own in the results.

Every case has a `method` and a `seed`; the rest says what the data are and what was asked.
"""
Metrics = Mapping[str, float]
"""A number for each name. "name@value" is the metric `name` where the experiment's `x` is `value`: so one case that is
watched on its way, such as after each subproblem, fills several rows of the table.
"""
Size = Literal["small", "paper"]
HOME = "benchmarks.paper."


class AtMost(float):
    """A value of which the paper says only that it was less."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """A figure or a table of the paper.

    Attributes
    ----------
    id, title : as in the paper.
    cases : all cases of a size, in the order in which they run.
    run : a case to its metrics. Runs in a process of its own worker, on one core, unless `whole_machine`.
    by : the keys of a case that a row of the table stands for; the rest (seeds, splits) is averaged over.
    metrics : columns of the table, and of the figure.
    x : the key along the figure's axis; None where there is no axis. One of `by`.
    paper : the paper's own values, by the values of `by`, where it gives them.
    whole_machine : whether a case takes the cluster for itself; otherwise cases run side by side.
    settings : what a case is run with besides its own keys, words and numbers only. A result that was found with other
        settings is none of the case.
    files : files of the data folder that `run` reads.
    """

    id: str
    title: str
    cases: Callable[[Size], list[Case]]
    run: Callable[[Case], Metrics]
    by: tuple[str, ...]
    metrics: tuple[str, ...]
    x: str | None = None
    paper: Mapping[tuple[Any, ...], Metrics] = field(default_factory=dict)
    whole_machine: Callable[[Case], bool] = lambda case: False
    settings: Callable[[Case], Mapping[str, Any]] = lambda case: {}
    files: tuple[str, ...] = ()


def constants(*functions: Callable[..., Any]) -> dict[str, Any]:
    """What functions of these benchmarks are set to: the constants that they read, and the defaults of parameters.

    By "module.NAME". Functions and classes of these benchmarks that they name are looked into, too: a setting is
    recorded from where it is used, and there is no list of settings that could fall behind.
    """
    found: dict[str, Any] = {}
    waiting, seen = [inspect.unwrap(each) for each in functions], set()
    while waiting:
        function = waiting.pop()
        if function in seen:
            continue
        seen.add(function)
        found |= _defaults(function)
        for name, value in _globals(function):
            if name.isupper() and _is_plain(value):
                found[f"{_module(function)}.{name}"] = value
            waiting += _functions(value)
    return dict(sorted(found.items()))


def _defaults(function: Any) -> dict[str, Any]:
    known = inspect.signature(function).parameters.values()
    given = {each.name: each.default for each in known if each.default is not each.empty and _is_plain(each.default)}
    return {f"{_module(function)}.{function.__qualname__}.{name}": value for name, value in given.items()}


def _globals(function: Any) -> Iterator[tuple[str, Any]]:
    """Names of the module that the code of a function reads, and what they stand for now."""
    for name in _read(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]


def _read(code: CodeType) -> set[str]:
    """Comprehensions and functions inside have a code of their own."""
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    own = {each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL"}
    return own.union(*map(_read, inner))


def _functions(value: Any) -> list[Any]:
    """A function of these benchmarks, or those of a class."""
    if not getattr(value, "__module__", None) or not value.__module__.startswith(HOME):
        return []
    if inspect.isclass(value):
        own = [each for name, each in vars(value).items() if not name.startswith("__")]
        methods = [each.fget if isinstance(each, property) else each for each in own]
        return [each for each in methods if inspect.isfunction(each)]
    return [each for each in [inspect.unwrap(value)] if inspect.isfunction(each)]


def _module(function: Any) -> str:
    return str(function.__module__.removeprefix(HOME))


def _is_plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_plain(each) for key, each in value.items())
    if isinstance(value, tuple | list):
        return all(_is_plain(each) for each in value)
    return value is None or isinstance(value, str | int | float)
