"""A method in plain words: what it is and what it is set to, so that its results can be told from those of others."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.real.data import Data
from benchmarks.real.folds import Fold, Split

LEFT_OUT = (Path, Data, Fold, Split)
"""Where files and interpreters are, and what is learnt from: no settings of a method."""


def described(method: Callable[..., Any]) -> dict[str, Any]:
    """Its name, the values of its parameters, and the plain constants of the module that it is written in.

    Words, numbers, lists and mappings only; methods among the values are described in their turn.
    """
    function, given = _apart(method)
    name = f"{function.__module__}.{function.__qualname__}"
    return {"function": name, "given": _plain(given), "constants": _constants(function)}


def _apart(method: Callable[..., Any]) -> tuple[Any, dict[str, Any]]:
    """The function, and its parameters by name: those that are given, and the defaults of the rest."""
    known = method if isinstance(method, partial) else partial(method)
    bound = inspect.signature(known.func).bind_partial(*known.args, **known.keywords)
    bound.apply_defaults()
    return known.func, bound.arguments


def _constants(function: Any) -> dict[str, Any]:
    known = {
        name: value
        for name, value in getattr(function, "__globals__", {}).items()
        if name.isupper() and _is_plain(value)
    }
    return _plain(dict(sorted(known.items())))


def _is_plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(map(_is_plain, value.values()))
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int | float | np.ndarray | np.generic)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items() if not isinstance(each, LEFT_OUT)}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value if not isinstance(each, LEFT_OUT)]
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if callable(value):
        return described(value)
    if _is_plain(value):
        return value
    raise TypeError(f"{value!r} is a setting that cannot be described; use numbers, words, lists or mappings")
