"""Kernels that go through whole columns: they can be no faster than memory, which a product X @ y shows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from backbone_dask.columns import Columns, measured
from backbone_dask.screens.catalogue import screens
from backbone_dask.screens.chance import ChancePanel, Shuffles
from backbone_dask.screens.correlation import CorrelationPanel
from backbone_dask.screens.prices import AdjustedPricePanel, PricePanel
from benchmarks.micro.pacing import Paced

FEATURES, SAMPLES, COVARIATES = 4_000, 5_000, 3
PRODUCT, BYTES = "X @ y in float32", "X @ y of as many bytes in float32"

pytestmark = pytest.mark.benchmark(group="columns")


@dataclass(frozen=True)
class Block:
    """Columns of floats, genotypes of as many bytes, and a response."""

    floats: Columns
    genotypes: Columns
    y: np.ndarray

    def product(self) -> np.ndarray:
        return self.floats.values @ self.y.astype(np.float32)


@pytest.fixture(scope="module")
def block() -> Block:
    rng = np.random.default_rng(0)
    values = rng.standard_normal((FEATURES, SAMPLES), dtype=np.float32)
    # As many bytes as the floats, and more than a cache holds: in a cache a limit is now faster, now slower.
    genotypes = rng.integers(3, size=(4 * FEATURES, SAMPLES), dtype=np.int8)
    genotypes[:, ::100] = -128
    y = values[::100].sum(axis=0, dtype=np.float64) + 6 * rng.standard_normal(SAMPLES)
    return Block(measured(values)[0], measured(genotypes, -128)[0], y - y.mean())


def test_screen_correlation_float32(paced: Paced, block: Block) -> None:
    panel = CorrelationPanel(block.y)
    paced(lambda: panel(block.floats), block.product, named=PRODUCT)


def test_screen_correlation_genotypes_with_missing(paced: Paced, block: Block) -> None:
    panel = CorrelationPanel(block.y)
    paced(lambda: panel(block.genotypes), block.product, named=BYTES)


def test_screen_by_chance_float32(paced: Paced, block: Block) -> None:
    """A response and ten shuffled ones."""
    own = CorrelationPanel(block.y)
    panel = ChancePanel(own, own.shuffled(Shuffles(np.ones(SAMPLES, bool), 0)))
    Y = np.random.default_rng(1).standard_normal((SAMPLES, 11)).astype(np.float32)
    paced(lambda: panel(block.floats), lambda: block.floats.values @ Y, named="X @ Y in float32, eleven responses")


def test_screen_logistic_float32(paced: Paced, block: Block) -> None:
    labels = screens["logistic"].check((block.y > 0).astype(np.float64))
    paced(lambda: screens["logistic"].score(block.floats, labels), block.product, named=PRODUCT)


def test_mean_and_scale_float32(paced: Paced, block: Block) -> None:
    paced(lambda: measured(block.floats.values), block.product, named=PRODUCT)


def test_standardise_float32(paced: Paced, block: Block) -> None:
    paced(block.floats.standardised, block.floats.values.copy, named="a copy")


def test_prices_float32(paced: Paced, block: Block) -> None:
    panel = PricePanel.along(block.y)
    paced(lambda: panel(block.floats), block.product, named=PRODUCT)


def test_prices_with_covariates_float32(paced: Paced, block: Block) -> None:
    basis = np.linalg.qr(np.random.default_rng(1).standard_normal((SAMPLES, COVARIATES)))[0].T
    along = partial(AdjustedPricePanel.along, squares=np.ones(SAMPLES), taken=basis, centred=True)
    panel = along(block.y, block.y, longest_row=float(np.sqrt(SAMPLES)))
    paced(lambda: panel(block.floats), block.product, named=PRODUCT)
