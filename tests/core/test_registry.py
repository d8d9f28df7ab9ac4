from __future__ import annotations

import pytest

from backbone_dask.errors import UnknownNameError
from backbone_dask.registry import Registry


@pytest.fixture
def screens() -> Registry[int]:
    registry: Registry[int] = Registry("screen")
    registry.register("splines")(2)
    registry.register("correlation")(1)
    return registry


def test_components_are_found_by_name(screens: Registry[int]) -> None:
    assert screens["correlation"] == 1
    assert screens.names() == ["correlation", "splines"]


def test_register_is_a_decorator_that_returns_its_component() -> None:
    registry: Registry[object] = Registry("screen")

    @registry.register("mine")
    def mine() -> None: ...

    assert registry["mine"] is mine


def test_an_unknown_name_is_answered_with_the_nearest_and_all_known(screens: Registry[int]) -> None:
    with pytest.raises(UnknownNameError) as caught:
        screens["corelation"]
    expected = "no screen is called 'corelation'; did you mean 'correlation'? (known: correlation, splines)"
    assert str(caught.value) == expected
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_a_name_like_no_other_gets_no_hint(screens: Registry[int]) -> None:
    with pytest.raises(KeyError, match=r"^no screen is called 'zzz' \(known: correlation, splines\)$"):
        screens["zzz"]
