from __future__ import annotations

import pytest

from backbone_dask.exact.trees.dp import TreeDp
from backbone_dask.exact.trees.mio import TreeMio
from backbone_dask.exact.trees.search import TreeSearch
from backbone_dask.testing.contracts import TreeSolverContract


class TestTreeSearch(TreeSolverContract):
    @pytest.fixture
    def solver(self) -> TreeSearch:
        return TreeSearch((0, 1, 2), width=3, seed=5)


class TestTreeMio(TreeSolverContract):
    @pytest.fixture
    def solver(self) -> TreeMio:
        return TreeMio(width=3, seed=5)


class TestTreeDp(TreeSolverContract):
    weights = ("equal", "whole")

    @pytest.fixture
    def solver(self) -> TreeDp:
        return TreeDp(width=3, seed=5)
