"""How the screen's survivors compare with chance, where it decided how many there are."""

from __future__ import annotations

from typing import Any

from backbone_dask.report.numbers import number


def chance_words(screen: dict[str, Any]) -> str:
    """What survivors exceed; that none does, too, in which case the best one column stays."""
    best = f"any column does for shuffled responses ({number(screen['chance'])})"
    if screen["beyond"]:
        return f"score higher, {_who(screen)}, than {best}{_cut(screen)}"
    return f"no column scores higher than {best}; the best one is kept, and its model may be no better than chance"


def _who(screen: dict[str, Any]) -> str:
    return "each by its group" if screen["grouped"] else "each by itself"


def _cut(screen: dict[str, Any]) -> str:
    return f"; others may, too: no more than {screen['most']:,} are kept" if screen["beyond"] >= screen["most"] else ""
