"""What a model of the mice is chosen from, be it of SNPs or of their products."""

from __future__ import annotations

from typing import Any

SIZES = (5, 10, 20, 40, 80)
CHOICE: dict[str, Any] = {
    "n_nonzero": SIZES,
    "gamma": (0.003, 0.001, 0.0003, 0.0001),
    "validation": 0.7,
    "time_limit": 10.0,
}
