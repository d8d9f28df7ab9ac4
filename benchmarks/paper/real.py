"""T1 to T4: real tables, with permuted copies of every column that a method should not choose."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any

from benchmarks.paper import real_regression, real_trees
from benchmarks.paper.data import other_content
from benchmarks.paper.experiment import Case, Experiment, Metrics, Size, constants
from benchmarks.paper.metrics import auc, r2
from benchmarks.paper.permuted import TABLES, Expanded, expanded
from benchmarks.paper.real_regression import Method

COPIES: dict[Size, int] = {"small": 100, "paper": 1000}
REPEATS: dict[Size, int] = {"small": 2, "paper": 5}
"""Splits, and expansions of each."""
REGRESSIONS, CLASSIFICATIONS = ("communities", "housing"), ("breast cancer", "ionosphere")
COUNTS = ("accuracy", "false alarms", "features")


def cases(table: str, size: Size) -> list[Case]:
    """Every method on every expansion of every split; an oracle sees no copies, so one expansion is all it needs."""
    repeats = range(REPEATS[size])
    return [
        {"table": table, "method": method, "split": split, "seed": expansion, "copies": COPIES[size]}
        for expansion in repeats
        for split in repeats
        for method in methods(table)
        if expansion == 0 or not is_oracle(method)
    ]


def is_oracle(method: str) -> bool:
    return "ORACLE" in method


def methods(table: str) -> Mapping[str, Method]:
    return real_regression.METHODS if table in REGRESSIONS else real_trees.METHODS


@lru_cache(maxsize=1)
def drawn(table: str, split: int, expansion: int, copies: int) -> Expanded:
    """Methods that follow each other share their data."""
    return expanded(table, split=split, expansion=expansion, copies=copies)


def run(case: Case) -> Metrics:
    """Quality on the test samples, what was chosen, the gap on the backbone, and the seconds of the fit."""
    copies = 0 if is_oracle(case["method"]) else case["copies"]
    data = drawn(case["table"], case["split"], case["seed"], copies)
    name, quality = ("R2", r2) if case["table"] in REGRESSIONS else ("AUC", auc)
    began = time.perf_counter()
    answer = methods(case["table"])[case["method"]](data, case["seed"])
    seconds = time.perf_counter() - began
    found = {name: quality(data.y_test, answer.predicted), **answer.counts(data.n_original)}
    return {**found, "gap": answer.gap, "seconds": seconds}


def settings(case: Case) -> dict[str, Any]:
    """What the table, its copies and the method are made with; results of another file are none of the known one."""
    file, read = TABLES[case["table"]]
    other = other_content(file)
    made = constants(read, expanded, methods(case["table"])[case["method"]])
    return made if other is None else made | {"data": other}


def _paper(names: tuple[str, ...], **values: tuple[float, ...]) -> dict[tuple[str, ...], Metrics]:
    """The paper's means, by method; methods are written with _ for what a name cannot have."""
    return {(method.replace("_", "-"),): dict(zip(names, row, strict=False)) for method, row in values.items()}


_T1_NAMES = ("R2", *COUNTS, "seconds", "gap")
_T3_NAMES = ("AUC", *COUNTS, "seconds")
PAPER = {
    "T1": _paper(
        _T1_NAMES,
        SR_ORACLE=(0.649, 0.324, 0.0, 32.4, 3565.0, 0.34),
        SIS_ENET=(0.556, 0.438, 0.768, 299.3, 31.1),
        RFE=(0.570, 0.114, 0.715, 40.0, 54389.0),
        DECO=(0.573, 0.291, 0.672, 103.3, 108.3),
        BB=(0.615, 0.184, 0.536, 40.4, 2505.0, 0.147),
    ),
    "T2": _paper(
        _T1_NAMES,
        SR_ORACLE=(0.864, 0.416, 0.0, 42.8, 3928.0, 0.475),
        SIS_ENET=(0.863, 0.506, 0.0, 52.1, 6.1),
        RFE=(0.712, 0.160, 0.585, 40.4, 13462.0),
        DECO=(0.757, 0.274, 0.738, 140.5, 28.4),
        BB=(0.765, 0.167, 0.645, 48.8, 4597.0, 0.531),
    ),
    "T3": _paper(
        _T3_NAMES,
        OCT_ORACLE=(0.943, 0.738, 0.0, 6.6, 1.4),
        CART=(0.917, 0.284, 0.554, 6.4, 6.2),
        RFE=(0.933, 0.284, 0.207, 3.8, 42.1),
        BB=(0.941, 0.342, 0.463, 5.9, 9.8),
    )
    | {("RF",): {"AUC": 0.972, "seconds": 68.6}},
    "T4": _paper(
        _T3_NAMES,
        OCT_ORACLE=(0.864, 0.259, 0.0, 8.6, 2.6),
        CART=(0.844, 0.061, 0.618, 5.8, 31.7),
        RFE=(0.877, 0.063, 0.112, 2.6, 801.5),
        BB=(0.871, 0.126, 0.147, 4.9, 11.4),
    )
    | {("RF",): {"AUC": 0.891, "seconds": 314.7}},
}


def _experiment(id: str, table: str) -> Experiment:
    regression = table in REGRESSIONS
    metrics = ("R2", *COUNTS, "gap", "seconds") if regression else ("AUC", *COUNTS, "seconds")
    return Experiment(
        id=id,
        title=f"{table}, with permuted copies of every column",
        cases=partial(cases, table),
        run=run,
        by=("method",),
        metrics=metrics,
        paper={**PAPER[id], **{(each,): PAPER[id]["BB",] for each in methods(table) if each.startswith("BB")}},
        settings=settings,
        files=(TABLES[table][0],),
    )


EXPERIMENTS = {
    id: _experiment(id, table)
    for id, table in zip(("T1", "T2", "T3", "T4"), (*REGRESSIONS, *CLASSIFICATIONS), strict=True)
}
