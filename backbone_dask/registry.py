"""Components by name, with an error that lists the names there are."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Generic, TypeVar

from backbone_dask.errors import UnknownNameError

T = TypeVar("T")


class Registry(Generic[T]):
    """A table from names to components of one kind."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._entries: dict[str, T] = {}

    def register(self, name: str) -> Callable[[T], T]:
        """Decorator: enter the component under `name`."""

        def enter(component: T) -> T:
            self._entries[name] = component
            return component

        return enter

    def names(self) -> list[str]:
        return sorted(self._entries)

    def __getitem__(self, name: str) -> T:
        try:
            return self._entries[name]
        except KeyError:
            raise UnknownNameError(self._unknown(name)) from None

    def _unknown(self, name: str) -> str:
        near = get_close_matches(str(name), self._entries, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return f"no {self._kind} is called {name!r}{hint} (known: {', '.join(self.names())})"
