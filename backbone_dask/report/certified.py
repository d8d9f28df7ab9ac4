"""The result of a run whose model was bounded over all columns after it was finished."""

from __future__ import annotations

from typing import Any

from backbone_dask.certificate import Certificate, Certify
from backbone_dask.problems.fitting import Fitted, Preparation
from backbone_dask.report.result import over_all, result_json

_OF_THE_RUN = ("levels", "validation", "settings", "peak_bytes", "traffic", "versions", "store")
"""What pricing does not change."""


def certified_result(
    result: dict[str, Any], ready: Preparation, certificate: Certificate, fitted: Fitted | None, seconds: float
) -> dict[str, Any]:
    """The earlier result with the bound over all columns, and with the model that pricing made better, if it did."""
    about = {name: result[name] for name in ("task", "target", "given")}
    new = {} if fitted is None else result_json(fitted, ready.store, about, result["peak_bytes"])
    new = result | {name: value for name, value in new.items() if name not in _OF_THE_RUN}
    spent = {**result["seconds"], "certify": result["seconds"].get("certify", 0.0) + seconds}
    spent["total"] = sum(value for phase, value in spent.items() if phase != "total")
    asked = ready.settings.certify or Certify()
    new["global"] = over_all(certificate, asked, new["objective"], new["support"]["ids"], ready.store)
    new["store"] = result["store"] | {"location": ready.store.location}
    return new | {"seconds": {phase: spent[phase] for phase in (*(p for p in spent if p != "total"), "total")}}
