"""Every name that the package offers shows how it is used, and what it shows is what happens."""

from __future__ import annotations

import doctest
import importlib
import inspect

import pytest

import backbone_dask

OFFERED = sorted(set(backbone_dask.__all__) - {"__version__"})


def examples(name):
    """The doctest of one name, with nothing known beforehand but what it imports itself."""
    offered = getattr(backbone_dask, name)
    home = importlib.import_module(offered.__module__)
    text = inspect.getdoc(offered) or ""
    return doctest.DocTestParser().get_doctest(text, {}, name, home.__file__, 0)


@pytest.mark.parametrize("name", OFFERED)
def test_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    test, said = examples(name), []
    assert any(example.want for example in test.examples), f"{name} shows no example with its answer"
    failed, _ = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
    assert not failed, "".join(said)
    # The example of a report is two commands, which people run in a folder of their own.
    assert not list(tmp_path.iterdir()), "an example leaves files where it is run"
