from __future__ import annotations

import pytest

from backbone_dask.protocols import Screen
from backbone_dask.screens.correlation import correlation
from backbone_dask.testing.contracts import ScreenContract


class TestCorrelation(ScreenContract):
    @pytest.fixture
    def screen(self) -> Screen:
        return correlation
