"""What a person sees while a screen runs."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.progress import Progress

from backbone_dask.cli.progress import _Display, _Rate, _Remaining
from backbone_dask.runtime.events import Event


@pytest.mark.parametrize("begun", [0, 400])
def test_speed_is_that_of_this_run_since_it_began(begun):
    """Groups that end together are not a thousand times as fast, and an earlier run's columns are not of this one."""
    now = [0.0]
    progress = Progress(console=Console(file=io.StringIO()), get_time=lambda: now[0], auto_refresh=False)
    display = _Display(progress)
    for moment, done in ((0.0, begun), (10.0, begun + 50), (10.001, begun + 100)):
        now[0] = moment
        display(Event("screen", done, 1000, "columns", unit_bytes=10**8))
    (bar,) = progress.tasks
    assert str(_Rate().render(bar)) == "10/s 1.00 GB/s"
    assert str(_Remaining().render(bar)) == ("0:01:30" if begun == 0 else "0:00:50")
