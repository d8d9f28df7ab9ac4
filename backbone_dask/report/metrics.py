"""How well a known truth was recovered, as the paper defines it."""

from __future__ import annotations

from typing import Any

import numpy as np

from backbone_dask.values import CandidateIds


def recovery(support: CandidateIds, backbone: CandidateIds, relevant: CandidateIds) -> dict[str, Any]:
    """Shares of the relevant features found, of the chosen ones that are irrelevant, and of those in the backbone."""
    hits = int(np.isin(support, relevant).sum())
    return {
        "accuracy": hits / relevant.size,
        "false_alarm": (support.size - hits) / support.size if support.size else 0.0,
        "backbone_accuracy": float(np.isin(relevant, backbone).mean()),
        "n_relevant": int(relevant.size),
        "n_found": hits,
    }


def tree_recovery(used: CandidateIds, relevant: CandidateIds, *, depth: int | None) -> dict[str, Any]:
    """For data made by a tree: the share of used features that are relevant, and the learned depth if it is a tree."""
    return {"fraction_relevant": float(np.isin(used, relevant).mean()) if used.size else 0.0, "depth": depth}
