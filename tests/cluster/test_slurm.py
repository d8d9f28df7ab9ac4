"""Real jobs on a real Slurm: lost, replaced, cancelled, and the same bits as without any."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from dask_processes import wait_until
from notebook_runs import FOLDER, assert_same
from slurm_cases import UP, Shell, Slurm, finished, slurm_environment

from backbone_dask import cluster
from backbone_dask.errors import BackboneError, ClusterError

pytestmark = pytest.mark.slurm

DEPLOY = Path(__file__).parents[2] / "deploy" / "slurm"
SHAPE = ("--n", 1000, "--p", 5_000_000, "--k", 8, "--rho", 0.5, "--snr", 3, "--virtual")
FOUND = ("support", "coefficients", "intercept", "backbone", "objective", "reduced", "termination", "levels")
JOB = {"cores": 1, "memory": "1GB", "walltime": "00:10:00", "interface": "lo", "poll": 0.5}
FIT = ("fit", "wide.json", "-k", 8, "--out", "run", "--json")
ON_SLURM = ("--cluster", "slurm", "--cluster-config", "cluster.yaml", "--workers", 2)


@pytest.fixture(scope="module")
def slurm():
    with slurm_environment() as variables, pytest.MonkeyPatch.context() as patch:
        subprocess.run([UP, "up"], check=True, env=variables, timeout=300)
        patch.setenv("SLURM_CONF", variables["SLURM_CONF"])
        yield Slurm()


@pytest.fixture
def shell(tmp_path):
    with Shell(tmp_path) as shell:
        yield shell


@pytest.fixture(scope="module")
def overtime(slurm, data):
    """A process whose job reaches a walltime of a minute: begun first, asked last."""
    minute = {"walltime": "00:01:00", "worker_extra_args": ["--lifetime", "1h"], "job_name": "overtime"}
    data.write("overtime.yaml", **JOB | minute)
    return data.process(sys.executable, str(Path(__file__).with_name("overtime.py")))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    with Shell(tmp_path_factory.mktemp("slurm-data")) as shell:
        shell.ok("simulate", "linear", "wide.json", *SHAPE)
        yield shell


@pytest.fixture(scope="module")
def serial(overtime, data):
    """What a run without a cluster finds."""
    found = json.loads(data.ok(*FIT, "--workers", 0))
    return {name: found[name] for name in FOUND}


@pytest.fixture
def wide(shell, data):
    shutil.copy(data.folder / "wide.json", shell.folder)
    return shell


def screening(shell, blocks=8):
    """Whether some blocks of the screen are done."""
    path = shell.folder / "run" / "events.jsonl"
    return path.exists() and path.read_text().count('"phase": "screen"') > blocks


def bits(output):
    found = json.loads(output)
    return {name: found[name] for name in FOUND}


def new_jobs(slurm, before):
    return slurm.jobs() - before


def test_a_fit_that_loses_a_job_ends_with_the_same_bits(slurm, serial, wide):
    wide.write("cluster.yaml", **JOB)
    before = slurm.jobs()
    process = wide.start(*FIT, *ON_SLURM)
    wait_until(lambda: screening(wide))
    jobs = new_jobs(slurm, before)
    assert len(jobs) == 2
    victim = min(jobs)
    slurm("scancel", victim)
    replaced = wait_until(lambda: new_jobs(slurm, before) - jobs)
    assert len(replaced) == 1
    assert bits(finished(process)) == serial
    assert slurm.state(victim) == "CANCELLED"
    wait_until(lambda: not new_jobs(slurm, before))


def test_workers_that_leave_before_the_walltime_take_no_bit_along(slurm, serial, wide):
    wide.write("cluster.yaml", **JOB | {"worker_extra_args": ["--lifetime", "6s", "--lifetime-stagger", "1s"]})
    before = slurm.jobs()
    process = wide.start(*FIT, *ON_SLURM)
    seen = set()
    while process.poll() is None:
        seen |= new_jobs(slurm, before)
        time.sleep(0.2)
    assert bits(finished(process)) == serial
    assert len(seen) > 2
    ended = {slurm.state(number) for number in seen}
    assert "COMPLETED" in ended
    assert not ended & {"TIMEOUT", "FAILED"}


def test_sigterm_leaves_no_job(slurm, wide):
    wide.write("cluster.yaml", **JOB)
    before = slurm.jobs()
    process = wide.start(*FIT, *ON_SLURM)
    wait_until(lambda: screening(wide, 1))
    assert len(new_jobs(slurm, before)) == 2
    os.kill(process.pid, signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 143
    assert errors.lstrip().startswith("interrupted")
    assert not new_jobs(slurm, before)


def test_ctrl_c_while_jobs_wait_leaves_none(slurm, wide):
    wide.write("cluster.yaml", **JOB | {"job_extra_directives": ["--hold"]})
    before = slurm.jobs()
    process = wide.start(*FIT, *ON_SLURM)
    wait_until(lambda: len(new_jobs(slurm, before)) == 2)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert not new_jobs(slurm, before)


def test_a_job_of_several_processes_is_replaced_over_tls(slurm, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = slurm.jobs()
    with cluster("slurm", workers=1, config={**JOB, "cores": 2}, tls=True) as client:
        assert client.scheduler.address.startswith("tls://")
        client.wait_for_workers(2, timeout=60)
        assert [worker["nthreads"] for worker in client.scheduler_info()["workers"].values()] == [1, 1]
        (first,) = new_jobs(slurm, before)
        slurm("scancel", first)
        (second,) = wait_until(lambda: new_jobs(slurm, before) - {first})
        numbers = client.map(os.getenv, ["SLURM_JOB_ID"] * 4, pure=False)
        assert set(client.gather(numbers)) == {second}
    assert not new_jobs(slurm, before)
    assert [path.name for path in tmp_path.iterdir()] == ["batch-logs"]


def test_a_pending_job_is_waited_for_and_counted(slurm, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = slurm.jobs()
    held = {**JOB, "job_extra_directives": ["--hold"], "timeout": 4}
    with pytest.raises(ClusterError, match=r"came within 4 seconds \(1 pending, 0 running\).*batch-logs"), opened(held):
        pytest.fail("no worker can be there")
    assert not new_jobs(slurm, before)
    numbers = [int(number) for number in slurm("squeue", "--noheader", "--states=all", "--format=%i").split()]
    assert slurm.state(str(max(numbers))) == "CANCELLED"


def test_jobs_that_die_at_once_are_given_up(slurm, tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    broken = {**JOB, "job_script_prologue": ["echo no such module >&2", "exit 1"]}
    with pytest.raises(ClusterError, match=r"^3 slurm jobs in a row ended.*batch-logs"), opened(broken):
        pytest.fail("no worker can be there")
    assert [record.levelno for record in caplog.records if "in a row" in record.message] == [logging.ERROR]
    logs = [path.read_text() for path in (tmp_path / "batch-logs").glob("*.err")]
    assert len(logs) == 3
    assert all("no such module" in log for log in logs)


def test_tasks_end_when_the_replacements_die(slurm, tmp_path, monkeypatch):
    """A prologue that works once: the first job runs, every other ends before a worker is there."""
    monkeypatch.chdir(tmp_path)
    once = {**JOB, "job_script_prologue": [f"mkdir {tmp_path}/started || exit 1"]}
    before = slurm.jobs()
    with opened(once) as client:
        future = client.submit(time.sleep, 1000)
        slurm("scancel", *new_jobs(slurm, before))
        with pytest.raises(ClusterError, match="in a row ended"):
            future.result(timeout=60)
    assert not new_jobs(slurm, before)


def opened(options):
    return cluster("slurm", workers=1, config=options)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"partitoin": "main"}, r"^a slurm cluster has no option 'partitoin'; known are: .*queue"),
        ({"interface": None}, r"^a slurm cluster must know where its jobs reach this machine.*'interface: ib0'"),
        ({"interface": "ib7"}, r"^the scheduler could not be started \(.*'ib7' is not a valid network"),
        ({"memory": "much"}, r"^memory is 'much'; it must be an amount of memory"),
        ({"queue": "nowhere"}, r"^slurm took no job \(.*invalid partition"),
    ],
)
def test_options_that_cannot_work_are_one_sentence(slurm, tmp_path, monkeypatch, options, sentence):
    monkeypatch.chdir(tmp_path)
    before = slurm.jobs()
    with pytest.raises(BackboneError, match=sentence) as refusal, opened(JOB | options):
        pytest.fail("nothing can be there")
    assert "\n" not in str(refusal.value)
    assert not new_jobs(slurm, before)


def test_files_that_hold_no_options_are_one_sentence(slurm, wide):
    assert "'cluster.yaml' does not exist" in wide.refused(*FIT, *ON_SLURM)
    (wide.folder / "cluster.yaml").write_text("cores: [1")
    errors = wide.refused(*FIT, *ON_SLURM)
    assert errors.startswith("error: cluster.yaml is no YAML")
    assert errors.count("\n") == 1


def test_a_batch_system_that_is_not_there_is_one_sentence():
    options = JOB | {"walltime": "00:10"}
    with pytest.raises(ClusterError, match=r"^bsub was not found"), cluster("lsf", config=options):
        pytest.fail("nothing can be there")


def test_the_readme_of_deploy_runs_step_by_step(tmp_path):
    (tmp_path / "deploy").symlink_to(DEPLOY.parent)
    steps = re.findall(r"^\$ (.*)$", (DEPLOY / "README.md").read_text(), re.MULTILINE)
    assert any(step.startswith("sbatch ") for step in steps)
    with slurm_environment() as variables:
        variables["PATH"] = f"{Path(sys.executable).parent}:{variables['PATH']}"
        script = "\n".join(["set -ex", *steps])
        done = subprocess.run(
            ["bash", "-c", script], cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=200
        )
    assert done.returncode == 0, done.stderr
    here, in_a_job = (json.loads((tmp_path / run / "result.json").read_text()) for run in ("run", "run-in-a-job"))
    assert here["recovery"]["n_found"] == 5
    assert {name: here[name] for name in FOUND} == {name: in_a_job[name] for name in FOUND}


def test_the_notebook_comes_to_what_it_shows(slurm, tmp_path):
    assert_same(FOLDER / "05_slurm.ipynb", tmp_path)


def test_a_job_that_reaches_its_walltime_is_replaced_and_its_tasks_not_blamed(slurm, serial, overtime):
    found = json.loads(finished(overtime))
    assert slurm.state(found["first"]) == "TIMEOUT"
    assert found["last"] != found["first"]
    assert found["fits"] == [[serial["support"]["ids"], serial["coefficients"], serial["objective"]]] * len(
        found["fits"]
    )
