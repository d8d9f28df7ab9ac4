"""Events as phases and as lines of a log; messages about a solve: few, the newest, and harmless."""

from __future__ import annotations

import json
import logging
import threading
import time

import numpy as np
import pytest
from dask_processes import wait_until

from backbone_dask import BackboneRegressor, BackboneTreeClassifier, screen
from backbone_dask.runtime.checkpoint import open_run
from backbone_dask.runtime.events import Event, Part, Solving, solve_facts
from backbone_dask.runtime.narration import Narrator
from backbone_dask.runtime.pacing import paced
from backbone_dask.runtime.phases import advanced, amount, fact_words, rate
from backbone_dask.testing.planted import planted
from backbone_dask.values import TracePoint


def level(done: int, number: int, backbone: int, total: int = 10, **more: float) -> Event:
    return Event("levels", done, total, "subproblems", facts={"level": number, "backbone": backbone, **more})


@pytest.mark.parametrize("begun", [0, 400])
def test_speed_is_that_of_this_run_since_it_began(begun):
    """Groups that end together are not a thousand times as fast, and an earlier run's columns are not of this one."""
    phase = None
    for moment, done in ((0.0, begun), (10.0, begun + 50), (10.001, begun + 100)):
        phase = advanced(phase, Event("screen", done, 1000, "columns", unit_bytes=10**8), moment)
    assert rate(phase, 10.001) == "10/s 1.00 GB/s"
    assert phase.seconds_left(10.0) == pytest.approx(90 if begun == 0 else 50)
    assert amount(phase) == f"{begun + 100:,}/1,000 columns"


def test_a_phase_that_is_over_keeps_its_time_and_knows_no_rest():
    phase = advanced(advanced(None, Event("write", 0, 4, "columns"), 1.0), Event("write", 4, 4, "columns"), 3.0)
    assert (phase.elapsed(99.0), phase.speed(99.0), phase.seconds_left(99.0), phase.share(99.0)) == (2, 2, None, 1)


def test_another_level_is_counted_anew():
    phase = advanced(advanced(None, level(0, 0, 0), 0.0), level(10, 0, 50), 5.0)
    phase = advanced(phase, level(0, 1, 0, 5), 6.0)
    phase = advanced(phase, level(2, 1, 20, 5), 8.0)
    assert (phase.elapsed(8.0), phase.speed(8.0), phase.seconds_left(8.0)) == (8.0, 1.0, 3.0)


def test_a_solve_goes_by_its_time_and_keeps_what_it_found():
    phase = advanced(None, Event("reduced", 0, 1, "fit", facts={"backbone": 9}), 0.0)
    phase = advanced(phase, Event("reduced", 0, 1, "fit", facts=solve_facts(2.0, 1.5) | {"limit": 60.0}), 15.0)
    assert phase.share(15.0) == 0.25
    assert phase.share(999.0) == 1.0
    assert dict(fact_words(phase))["gap"] == "gap 25.00%"
    assert [name for name, _ in fact_words(phase)] == ["backbone", "gap", "objective", "bound"]


def test_of_several_solves_the_best_is_told():
    told: list[Event] = []
    solving = Solving(told.append, 5.0)
    for point in (TracePoint(0, 3.0, -np.inf), TracePoint(1, 2.0, 1.0), TracePoint(0, 4.0, 0.5)):
        solving(point)
    assert told[0].facts == {"objective": 3.0, "limit": 5.0}
    assert told[-1].facts == {"objective": 2.0, "bound": 1.0, "gap": 0.5, "limit": 5.0}


def narrated(caplog, *events: tuple[float, Event]) -> list[str]:
    now = iter([moment for moment, _ in events])
    narrator = Narrator(lambda: next(now))
    with caplog.at_level(logging.INFO, "backbone_dask"):
        for _, event in events:
            narrator(event)
    return caplog.messages


def test_a_log_has_the_ends_of_phases_and_a_line_now_and_then(caplog):
    moments = [*range(0, 26), 40]
    columns = [(float(at), Event("write", 4 * at, 160, "columns", unit_bytes=10**9)) for at in moments]
    assert narrated(caplog, *columns) == [
        "write: 0/160 columns",
        "write: 40/160 columns, 4/s 4.00 GB/s, 0:00:10, 0:00:30 left",
        "write: 80/160 columns, 4/s 4.00 GB/s, 0:00:20, 0:00:20 left",
        "write: 160/160 columns, 4/s 4.00 GB/s, in 0:00:40",
    ]


def test_a_level_ends_with_its_coverage_also_if_subproblems_are_left(caplog):
    said = narrated(caplog, (0.0, level(0, 0, 0)), (1.0, level(7, 0, 30)), (2.0, level(7, 0, 30, coverage=0.97)))
    assert said[1:] == ["levels: 7/10 subproblems, level 0, |B| 30, coverage 97%, in 0:00:02"]


def test_people_are_warned_of_little_coverage_and_of_time_limits(caplog):
    ended = solve_facts(2.0, 1.0) | {"termination": "time_limit"}
    narrated(caplog, (0.0, level(1, 0, 5, coverage=0.3)), (1.0, Event("reduced", 1, 1, "fit", facts=ended)))
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warnings) == 2
    assert "30% of its candidates" in warnings[0]
    assert "gap of 50.00%" in warnings[1]
    caplog.clear()
    proven = solve_facts(2.0, 2.0) | {"termination": "proven"}
    narrated(caplog, (0.0, level(1, 0, 5, coverage=0.9)), (1.0, Event("reduced", 1, 1, "fit", facts=proven)))
    assert all(record.levelno == logging.INFO for record in caplog.records)


def test_parts_have_a_name_for_people_and_one_for_their_journal():
    assert (str(Part(0, 5)), Part(0, 5).name) == ("validation 1 of 5", "validation-0")


def test_a_log_of_events_is_json_with_the_facts_in_line(tmp_path):
    with open_run(tmp_path / "run", {}, resume=False, overwrite=False) as run:
        run.log(Event("reduced", 0, 1, "fit", run="validation 1 of 2", facts=solve_facts(2.0, 1.0)))
    (line,) = (tmp_path / "run" / "events.jsonl").read_text().splitlines()
    content = json.loads(line)
    assert (content["phase"], content["bound"], content["gap"]) == ("reduced", 1.0, 0.5)
    assert "facts" not in content


def points(count: int) -> list[TracePoint]:
    return [TracePoint(float(at), 1.0, 0.0) for at in range(count)]


def test_the_first_message_goes_at_once_and_the_newest_after_a_pause():
    told, three = [], points(3)
    with paced(told.append, pause=1.0) as tell:
        for point in three:
            tell(point)
        assert told == three[:1]
        wait_until(lambda: len(told) > 1)
        assert told == [three[0], three[2]]


def test_after_the_end_nothing_is_told():
    told, three = [], points(3)
    with paced(told.append, pause=1.0) as tell:
        for point in three:
            tell(point)
    time.sleep(1.2)
    assert told == three[:1]


def test_a_thousand_messages_are_a_few():
    told = []
    with paced(told.append, pause=0.1) as tell:
        began = time.monotonic()
        for point in points(1000):
            tell(point)
        taken = time.monotonic() - began
    assert len(told) <= 2 + taken / 0.1


def test_a_watcher_that_fails_harms_nobody(caplog):
    def fail(point: TracePoint) -> None:
        raise OSError("no way")

    with caplog.at_level(logging.DEBUG, "backbone_dask"), paced(fail, pause=0.01) as tell:
        for point in points(2):
            tell(point)
        wait_until(lambda: len(caplog.messages) > 1)
    wait_until(lambda: not any(isinstance(each, threading.Timer) for each in threading.enumerate()))
    assert caplog.messages == ["a message about the solve is lost"] * 2


def test_estimators_log_their_phases(caplog):
    table = planted(n_samples=80, n_features=60, n_relevant=3, snr=4, seed=1)
    with caplog.at_level(logging.INFO, "backbone_dask"):
        BackboneRegressor(n_nonzero=[2, 3], validation=2).fit(table.X.T, table.y)
    said = [message.split(",")[0] for message in caplog.messages]
    for words in ("validation 1 of 2: screen: 60/60 columns", "validation 2 of 2: reduced: 1/1 fit"):
        assert words in said
    for words in ("screen: 60/60 columns", "compact: 60/60 columns", "reduced: 1/1 fit"):
        assert words in said
    assert "gap" in caplog.messages[-1]
    assert all(record.name.startswith("backbone_dask.") for record in caplog.records)


def test_trees_and_screens_log_too(caplog):
    table = planted(n_samples=80, n_features=30, n_relevant=3, snr=4, seed=1)
    with caplog.at_level(logging.INFO, "backbone_dask"):
        BackboneTreeClassifier(depth=2, n_starts=2).fit(table.X.T, table.y > 0)
        assert any(message.startswith("reduced: 1/1 fit") for message in caplog.messages)
        caplog.clear()
        screen(table.X.T, table.y, keep=5)
    assert any("5 survivors" in message for message in caplog.messages)


def test_a_library_that_nobody_asked_says_nothing(capfd):
    table = planted(n_samples=60, n_features=20, n_relevant=3, snr=4, seed=1)
    BackboneRegressor(n_nonzero=3, time_limit=1e-9).fit(table.X.T, table.y)
    assert capfd.readouterr() == ("", "")
