"""How well a model explains its training samples, by name."""

from __future__ import annotations

QUALITY = {"r2": "R²", "auc": "AUC", "accuracy": "accuracy"}
"""What people call the measures of a result."""
