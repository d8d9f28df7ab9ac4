"""How long a batch job may run, as each batch system writes it, and when its workers should leave before that."""

from __future__ import annotations

from typing import Any

from backbone_dask.errors import InvalidSettingError

_HOUR, _MINUTE = 3600, 60
_CLOCK = {1: (1,), 2: (_MINUTE, 1), 3: (_HOUR, _MINUTE, 1)}
_UNITS = {
    "slurm": {**_CLOCK, 1: (_MINUTE,)},
    "slurm with days": {1: (_HOUR,), 2: (_HOUR, _MINUTE), 3: (_HOUR, _MINUTE, 1)},
    "pbs": _CLOCK,
    "sge": _CLOCK,
    "lsf": {1: (_MINUTE,), 2: (_HOUR, _MINUTE)},
}
"""What the numbers between the colons count, by how many there are."""
_FORMS = {"slurm": "'12:00:00' or '1-12:00:00'", "pbs": "'12:00:00'", "sge": "'12:00:00'", "lsf": "'12:00'"}
_ENDLESS = ("unlimited", "infinite")

SHARE, LEAST, MOST = 0.05, 60.0, 600.0
"""Of the walltime, the part that workers leave unused, and its limits in seconds."""


def walltime_seconds(walltime: Any, kind: str) -> float | None:
    """Seconds of a walltime; None where there is no limit."""
    if walltime is None or str(walltime).lower() in _ENDLESS:
        return None
    # YAML reads 12:00:00 without quotes as the number 43200, which Slurm would take for minutes.
    if not isinstance(walltime, str):
        raise InvalidSettingError(f"walltime is {walltime!r}; write it in quotes, as {_FORMS[kind]}")
    days, dash, clock = walltime.rpartition("-")
    numbers = clock.split(":")
    units = _UNITS.get(f"{kind} with days" if dash else kind, {}).get(len(numbers), ())
    if not units or not all(number.isdigit() for number in [*numbers, days or "0"]) or not (dash == "" or days):
        raise InvalidSettingError(f"walltime is {walltime!r}; a {kind} cluster takes {_FORMS[kind]}")
    seconds = 24 * _HOUR * int(days or 0) + sum(int(n) * unit for n, unit in zip(numbers, units, strict=True))
    if not seconds:
        raise InvalidSettingError(f"walltime is {walltime!r}; a job needs some time")
    return float(seconds)


def lifetime_arguments(seconds: float | None, given: list[str]) -> list[str]:
    """Arguments of a worker that make it leave in order before its job's walltime, unless they are given already.

    Workers of different jobs leave at different moments, so that there is always another one to take over the data.
    """
    if seconds is None or any(argument.startswith("--lifetime") for argument in given):
        return []
    margin = min(max(SHARE * seconds, LEAST), MOST, seconds / 4)
    stagger = margin / 2
    return ["--lifetime", f"{seconds - margin - stagger:.0f}s", "--lifetime-stagger", f"{stagger:.0f}s"]
