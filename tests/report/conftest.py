"""Finished runs of every kind, made once."""

from __future__ import annotations

import shutil

import pytest
from report_cases import make_runs


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """A folder with the runs `linear`, `certified`, `logistic` and `tree`."""
    return make_runs(tmp_path_factory.mktemp("report"))


@pytest.fixture
def copied(runs, tmp_path):
    """Copies a run, for those who change it."""

    def copy(name):
        return shutil.copytree(runs / name, tmp_path / name)

    return copy
