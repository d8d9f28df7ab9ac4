"""What a person sees while a command works: lines as plain values, and in real terminals and files."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest

from backbone_dask.cli.lines import line, lines
from backbone_dask.runtime.events import Event, solve_facts
from backbone_dask.runtime.phases import advanced

COMMAND = [sys.executable, "-m", "backbone_dask.cli"]
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
FIT = ("fit", "data.zarr", "-k", 5)


def phase_of(*events):
    phase = None
    for moment, event in enumerate(events):
        phase = advanced(phase, event, 10.0 * moment)
    return phase


SCREEN = phase_of(
    Event("screen", 0, 10**8, "columns", unit_bytes=20_000),
    Event("screen", 10**7, 10**8, "columns", unit_bytes=20_000, facts={"survivors": 40_000, "constant": 3}),
)
LEVELS = phase_of(
    Event("levels", 0, 10, "subproblems", facts={"level": 1, "backbone": 0}),
    Event("levels", 4, 10, "subproblems", facts={"level": 1, "backbone": 1234}),
)
REDUCED = phase_of(
    Event("reduced", 0, 1, "fit", facts={"backbone": 123}),
    Event("reduced", 0, 1, "fit", facts=solve_facts(2411.95, 1372.75) | {"limit": 40.0}),
)


def drawn(phase, width):
    return line(phase, 10.0, width).characters("=", "-")


def test_a_wide_terminal_shows_everything():
    assert drawn(SCREEN, 150) == (
        "screen   ==----------------------  10,000,000/100,000,000 columns  40,000 survivors  1,000,000/s 20.00 GB/s"
        "  0:00:10  0:01:30 left"
    )
    assert drawn(LEVELS, 150) == (
        "levels   ==========--------------  4/10 subproblems  level 1  |B| 1,234  0:00:10  0:00:15 left"
    )
    assert drawn(REDUCED, 150) == (
        "reduced  ======------------------  |B| 123  gap 43.09%  objective 2411.95  bound 1372.75  0:00:10 of 0:00:40"
    )


def test_on_80_columns_what_matters_most_is_left():
    assert "40,000 survivors" in drawn(SCREEN, 80)
    assert "|B| 1,234" in drawn(LEVELS, 80)
    assert "gap 43.09%" in drawn(REDUCED, 80)
    assert "0:00:10 of 0:00:40" in drawn(REDUCED, 80)


@pytest.mark.parametrize("width", range(1, 130))
def test_no_line_is_longer_than_the_terminal(width):
    assert all(len(drawn(phase, width)) <= max(width, 10) for phase in (SCREEN, LEVELS, REDUCED))


def test_a_level_that_ended_early_is_complete():
    """Its coverage is told when it ends, with subproblems left that were not needed."""
    ended = Event("levels", 7, 10, "subproblems", facts={"level": 1, "backbone": 9, "coverage": 0.9})
    phase = advanced(LEVELS, ended, 20.0)
    later = line(phase, 500.0, 150)
    assert later.done == later.bar > 0
    assert later.text == "7/10 subproblems  level 1  |B| 9  coverage 90%  0:00:20"
    following = advanced(phase, Event("levels", 0, 5, "subproblems", facts={"level": 2, "backbone": 0}), 30.0)
    assert not following.over


def test_phases_come_in_their_order():
    assert [each.title.strip() for each in lines({"a": SCREEN, "b": REDUCED}, 10.0, 80)] == ["screen", "reduced"]


def in_terminal(folder, *arguments, width=80, **environment):
    """What a command draws on a terminal of that width, and what it prints."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, width, 0, 0))
    environ = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    environ |= {"TERM": "xterm-256color", **environment}
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)], cwd=folder, stderr=theirs, stdout=subprocess.PIPE, env=environ
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            seen += os.read(ours, 65536)
        except OSError:
            break
    out = process.stdout.read().decode()
    process.stdout.close()
    os.close(ours)
    assert process.wait() == 0, seen.decode()
    return seen.decode(), out


def rows(seen):
    return [row for row in re.split(r"[\r\n]+", ESCAPE.sub("", seen)) if row]


def test_a_terminal_shows_survivors_backbone_gap_and_dashboard(demo, tmp_path):
    hard = ("fit", "data.zarr", "-k", 20, "--gamma", 10, "--time-limit", 2, "--workers", 1)
    seen, out = in_terminal(demo.folder, *hard, "--out", tmp_path / "run")
    drawn = [row for row in rows(seen) if "warning" not in row]
    text = "\n".join(drawn)
    assert re.search(r"^dashboard: http://127.0.0.1:\d+/status$", text, re.M)
    assert re.search(r"^screen .* 5,000/5,000 columns  1,200 survivors", text, re.M)
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert f"|B| {len(result['backbone'])}" in text
    assert len({*re.findall(r"^reduced  ━*─* .*gap ([\d.]+%).* of 0:00:02$", text, re.M)}) > 1
    assert f"gap {result['reduced']['gap']:.2%}" in text
    assert max(map(len, drawn)) < 80
    assert "certified gap" in out
    assert re.search(r"\x1b\[38;5", seen)
    events = [json.loads(row) for row in (tmp_path / "run" / "events.jsonl").read_text().splitlines()]
    bounds = [event["bound"] for event in events if "bound" in event]
    assert bounds == sorted(bounds)
    assert len({*bounds}) > 2
    assert bounds[-1] == result["reduced"]["bound"]


def test_a_narrow_terminal_without_colour_while_k_is_chosen(demo, tmp_path):
    settings = ("fit", "data.zarr", "-k", "3,5", "--validation", 2, "-v")
    seen, _ = in_terminal(demo.folder, *settings, "--out", tmp_path / "run", "--workers", 0, width=60, NO_COLOR="1")
    text = "\n".join(rows(seen))
    assert "dashboard" not in text
    assert re.search(r"^validation [12] of 2$", text, re.M)
    assert max(map(len, rows(seen))) < 61
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", seen)
    # The log that was asked for comes line by line, above the display.
    assert re.search(r"^\d\d:\d\d:\d\d validation 1 of 2: compact: 1,200/1,200", text, re.M)


def test_quiet_shows_nothing_on_a_terminal(demo, tmp_path):
    seen, _ = in_terminal(demo.folder, *FIT, "--out", tmp_path / "run", "--workers", 0, "--quiet")
    assert seen == ""


def test_a_file_gets_plain_lines(demo, tmp_path):
    done = demo(*FIT, "--out", tmp_path / "run", "--workers", 0)
    said = done.stderr.splitlines()
    assert "\x1b" not in done.stderr
    assert all(re.match(r"\d\d:\d\d:\d\d \w+: ", each) for each in said)
    assert [each.split()[1] for each in said] == [
        *("screen:", "screen:", "compact:", "compact:", "levels:", "levels:", "reduced:", "reduced:")
    ]
    assert "1,200 survivors" in said[1]
    assert "gap 0.0" in said[-1]


def test_quiet_and_json_leave_standard_error_empty(demo, tmp_path):
    for at, flag in enumerate(("--quiet", "--json")):
        done = demo(*FIT, "--out", tmp_path / f"run{at}", "--workers", 0, flag)
        assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["termination"] == "proven"
    done = demo("simulate", "linear", tmp_path / "a.zarr", "--n", 20, "--p", 30, "--k", 2, "--quiet")
    assert done.stderr == ""
    done = demo("screen", "data.zarr", "--out", tmp_path / "a.csv", "--workers", 0, "--quiet")
    assert done.stderr == ""


def test_simulate_and_screen_say_what_they_do(demo, tmp_path):
    done = demo("simulate", "linear", tmp_path / "a.zarr", "--n", 20, "--p", 30, "--k", 2)
    assert "write: 30/30 columns" in done.stderr
    done = demo("screen", "data.zarr", "--keep", 9, "--out", tmp_path / "a.csv", "--workers", 0)
    assert "screen: 5,000/5,000 columns, 9 survivors" in done.stderr


def test_verbose_before_or_after_the_command(demo, tmp_path):
    before = demo("-v", *FIT, "--out", tmp_path / "a", "--workers", 0, "--quiet")
    after = demo(*FIT, "-vv", "--out", tmp_path / "b", "--workers", 0, "--quiet")
    assert "screen: 5,000/5,000 columns" in before.stderr
    assert "debug" not in before.stderr
    assert "debug: solve_subproblem on this process" in after.stderr
    assert demo(*FIT, "--out", tmp_path / "c", "--workers", 0, "--quiet").stderr == ""


def test_a_warning_is_shown_to_the_quiet_too(demo, tmp_path):
    hard = ("--gamma", 100, "--time-limit", 0.01, "-k", 40, "--exact", "outer-approximation")
    done = demo("fit", "data.zarr", *hard, "--out", tmp_path / "run", "--workers", 0, "--json")
    assert re.match(r"\d\d:\d\d:\d\d warning: the time limit ended the exact solve at a gap of", done.stderr)
    assert json.loads(done.stdout)["termination"] == "time_limit"
