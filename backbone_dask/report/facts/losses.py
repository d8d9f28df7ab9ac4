"""Where relevant features were lost, when the truth is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backbone_dask.report.material import Material


@dataclass(frozen=True, slots=True)
class Recovery:
    """How much of the truth the model has. `lost_*` count relevant features by the phase that lost them.

    They are None where the run does not say which features are relevant.
    """

    found: int
    relevant: int
    false_alarm: float
    in_backbone: float
    lost_in_screen: int | None
    lost_in_levels: int | None
    lost_in_fit: int | None


def recovery_facts(material: Material) -> Recovery | None:
    """None where the truth is not known."""
    known = material.result.get("recovery")
    if known is None:
        return None
    found, relevant = known["n_found"], known["n_relevant"]
    in_backbone = round(known["backbone_accuracy"] * relevant)
    in_screen = None
    if material.screening is not None and "relevant" in known:
        in_screen = int(np.isin(known["relevant"], material.screening.candidates).sum())
    return Recovery(
        found,
        relevant,
        known["false_alarm"],
        known["backbone_accuracy"],
        None if in_screen is None else relevant - in_screen,
        None if in_screen is None else in_screen - in_backbone,
        None if in_screen is None else in_backbone - found,
    )
