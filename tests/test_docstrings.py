"""Every name that the package offers shows how it is used, and what it shows is what happens."""

from __future__ import annotations

import doctest
import importlib
import inspect

import pytest

import backbone_dask
from backbone_dask import settings, tree_settings
from backbone_dask.exact.catalogue import exact_solvers
from backbone_dask.problems.linear import LEARNERS
from backbone_dask.screens.catalogue import screens

OFFERED = sorted(set(backbone_dask.__all__) - {"__version__"})


def examples(name):
    """The doctest of one name, with nothing known beforehand but what it imports itself."""
    offered = getattr(backbone_dask, name)
    home = importlib.import_module(offered.__module__)
    text = inspect.getdoc(offered) or ""
    return doctest.DocTestParser().get_doctest(text, {}, name, home.__file__, 0)


@pytest.fixture
def parts_as_they_were(monkeypatch):
    """Names that examples register are gone afterwards: other tests of this process count them."""
    for registry in (screens, exact_solvers):
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    for choices in (LEARNERS, settings.CHOICES, tree_settings.CHOICES):
        for name, value in choices.items():
            monkeypatch.setitem(choices, name, value)
    before = [(choices, set(choices)) for choices in (LEARNERS, settings.CHOICES, tree_settings.CHOICES)]
    yield
    for choices, names in before:
        for name in set(choices) - names:
            del choices[name]


@pytest.mark.parametrize("name", OFFERED)
@pytest.mark.usefixtures("parts_as_they_were")
def test_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    test, said = examples(name), []
    assert any(example.want for example in test.examples), f"{name} shows no example with its answer"
    failed, _ = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
    assert not failed, "".join(said)
    assert not list(tmp_path.iterdir()), "an example leaves files where it is run"
