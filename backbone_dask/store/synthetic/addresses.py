"""Every draw has an address: the seed, what the draw is for, and which data set it belongs to."""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Purpose(IntEnum):
    """What a stream is used for. The numbers are part of the format: they never change."""

    SUPPORT = 0
    COEFFICIENTS = 1
    SPLITS = 2
    THRESHOLDS = 3
    LABELS = 4
    DESIGN = 5
    RESPONSE = 6
    FREQUENCIES = 7


def address(seed: int, purpose: Purpose, draw: int = 0) -> np.random.SeedSequence:
    """The stream of one purpose; purposes and draws of the same seed are independent of each other."""
    return np.random.SeedSequence(seed, spawn_key=(int(purpose), draw))


def generator(seed: int, purpose: Purpose, draw: int = 0) -> np.random.Generator:
    """A generator at the beginning of that stream. PCG64 by name: numpy may change its default."""
    return np.random.Generator(np.random.PCG64(address(seed, purpose, draw)))


def key(seed: int, purpose: Purpose, draw: int = 0) -> np.uint64:
    """64 bits of that stream, for counter-based kernels."""
    return np.uint64(address(seed, purpose, draw).generate_state(1, np.uint64)[0])
