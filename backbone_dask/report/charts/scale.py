"""From numbers to places on a drawing, and which numbers stand at an axis."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol


class Scale(Protocol):
    """Where a number stands, and the numbers to write at the axis."""

    def __call__(self, value: float) -> float: ...

    def ticks(self) -> tuple[float, ...]: ...


@dataclass(frozen=True, slots=True)
class Linear:
    """`low` stands at `start`, `high` at `stop`; the ends are round numbers."""

    low: float
    high: float
    start: float
    stop: float
    step: float

    @classmethod
    def over(cls, values: Iterable[float], start: float, stop: float, *, most: int = 5, least: float = 0.0) -> Linear:
        """Holds all values, between round numbers, with about `most` ticks that are `least` apart or more."""
        low, high = spread(values)
        step = max(round_step((high - low) / most), least)
        return cls(math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step, start, stop, step)

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.stop - self.start)

    def ticks(self) -> tuple[float, ...]:
        count = round((self.high - self.low) / self.step)
        return tuple((round(self.low / self.step) + at) * self.step for at in range(count + 1))


@dataclass(frozen=True, slots=True)
class Log:
    """Every power of ten is as wide as every other; what is below the lowest stands there."""

    low: float
    high: float
    start: float
    stop: float

    @classmethod
    def over(cls, values: Iterable[float], start: float, stop: float) -> Log:
        """From 1 to the largest value, with at least one power of ten."""
        return cls(1.0, max([10.0, *values]), start, stop)

    def __call__(self, value: float) -> float:
        share = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.stop - self.start)

    def ticks(self) -> tuple[float, ...]:
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        step = max(1, math.ceil((last - first) / 5))
        return tuple(10.0**at for at in range(first, last + 1, step))


@dataclass(frozen=True, slots=True)
class Evenly:
    """The numbers 0, 1, ..., count - 1, each in the middle of a strip of its own."""

    count: int
    start: float
    stop: float

    def __call__(self, value: float) -> float:
        return self.start + (value + 0.5) / max(self.count, 1) * (self.stop - self.start)

    def ticks(self) -> tuple[float, ...]:
        return tuple(float(at) for at in range(0, self.count, max(1, math.ceil(self.count / 8))))


def spread(values: Iterable[float]) -> tuple[float, float]:
    """The least and the largest value, with room between them where they are the same."""
    # Shares of the smallest numbers there are would be 0.
    known = [value if abs(value) > 1e-250 else 0.0 for value in values] or [0.0, 1.0]
    low, high = min(known), max(known)
    if high - low > 1e-12 * max(abs(low), abs(high)):
        return low, high
    return (low - abs(low) / 2, high + abs(high) / 2) if low else (0.0, 1.0)


def round_step(step: float) -> float:
    """1, 2 or 5 times a power of ten, and not less than `step`."""
    unit = 10.0 ** math.floor(math.log10(step))
    return next(each * unit for each in (1, 2, 5, 10) if each * unit >= step * (1 - 1e-9))
