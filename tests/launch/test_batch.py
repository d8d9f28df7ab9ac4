"""Job scripts of every batch system, options that are refused, and what the batch systems say of jobs."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading

import pytest

from backbone_dask import cluster
from backbone_dask.errors import BackboneError, ClusterError, InvalidSettingError, MissingExtraError
from backbone_dask.launch.batch import CLASSES, _cluster_class, _dask_defaults, known_options, start
from backbone_dask.launch.jobs import order
from backbone_dask.launch.queues import QUEUES, Queue, ask
from backbone_dask.launch.walltime import lifetime_arguments, walltime_seconds

JOB = {"cores": 2, "memory": "4GB", "walltime": "02:00:00", "interface": "lo", "queue": "long"}
WALLTIMES = {"slurm": "02:00:00", "pbs": "02:00:00", "sge": "02:00:00", "lsf": "02:00"}


def ordered(kind, **options):
    kind_of_cluster = _cluster_class(kind)
    return order(kind, None, options, known_options(kind_of_cluster), _dask_defaults(kind))


def script(kind, tmp_path, **options):
    given = JOB | {"walltime": WALLTIMES[kind], "log_directory": str(tmp_path / "logs")} | options
    with start(_cluster_class(kind), ordered(kind, **given)) as made:
        return made.job_script()


DIRECTIVES = {
    "slurm": (
        "#SBATCH -p long",
        "#SBATCH -t 02:00:00",
        "#SBATCH --cpus-per-task=2",
        "#SBATCH --mem=4G",
        "#SBATCH -A me",
    ),
    "pbs": ("#PBS -q long", "#PBS -l walltime=02:00:00", "#PBS -l select=1:ncpus=2:mem=3815MB", "#PBS -A me"),
    "sge": ("#$ -q long", "#$ -l h_rt=02:00:00", "#$ -P me"),
    "lsf": ("#BSUB -q long", "#BSUB -W 02:00", "#BSUB -n 2", '#BSUB -P "me"'),
}


@pytest.mark.parametrize("kind", CLASSES)
def test_the_job_script_holds_what_was_asked_for(kind, tmp_path):
    payer = {"account": "me"} if kind in ("slurm", "pbs") else {"project": "me"}
    lines = script(kind, tmp_path, **payer).splitlines()
    assert set(DIRECTIVES[kind]) <= set(lines)
    assert any(str(tmp_path / "logs") in line for line in lines)


@pytest.mark.parametrize("kind", CLASSES)
def test_workers_have_one_thread_a_nanny_and_no_spilling(kind, tmp_path):
    text = script(kind, tmp_path, job_script_prologue=["module load python"])
    worker = text.splitlines()[-1]
    assert worker.startswith(f"{sys.executable} -m distributed.cli.dask_worker tcp://127.0.0.1:")
    for piece in (
        "--nthreads 1",
        "--nworkers 2",
        "--nanny",
        "--memory-limit 1.86GiB",
        "--interface lo",
        "--dashboard-address 127.0.0.1:0",
    ):
        assert piece in worker
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        assert f"export {name}=1\n" in text
    assert "export DASK_DISTRIBUTED__WORKER__MEMORY__SPILL=False\n" in text
    # One's own commands come last, so that they have the last word.
    assert text.index("module load python") > text.index("DASK_DISTRIBUTED")


def test_the_environment_of_a_job_turns_spilling_off(tmp_path):
    exports = [line for line in script("slurm", tmp_path).splitlines() if line.startswith("export")]
    question = (
        "import dask, distributed as d; g = dask.config.get; "
        "print(g('distributed.worker.memory.spill'), g('distributed.worker.memory.target'),"
        "g('distributed.worker.memory.pause'),"
        "g('distributed.worker.profile.enabled'), g('distributed.admin.system-monitor.log-length'),"
        "g('distributed.admin.low-level-log-length'))"
    )
    done = subprocess.run(
        ["bash", "-c", "\n".join([*exports, f'{sys.executable} -c "{question}"'])], capture_output=True, text=True
    )
    assert done.stdout.split() == ["False", "False", "False", "False", "600", "100"], done.stderr


def test_workers_leave_before_the_walltime(tmp_path):
    worker = script("slurm", tmp_path).splitlines()[-1]
    assert "--lifetime 6660s --lifetime-stagger 180s" in worker


def test_a_lifetime_of_ones_own_is_left_alone(tmp_path):
    worker = script("slurm", tmp_path, worker_extra_args=["--lifetime", "1h"]).splitlines()[-1]
    assert worker.count("--lifetime") == 1
    assert "--lifetime 1h" in worker


@pytest.mark.parametrize("seconds", [60.0, 600.0, 1800.0, 86_400.0])
def test_the_last_worker_leaves_in_time_and_none_at_once(seconds):
    _, lifetime, _, stagger = lifetime_arguments(seconds, [])
    life, spread = float(lifetime[:-1]), float(stagger[:-1])
    assert life + spread <= seconds - min(10, seconds / 5)
    assert life - spread >= seconds / 2
    assert spread > 0


def test_without_a_walltime_workers_stay():
    assert lifetime_arguments(None, []) == []


@pytest.mark.parametrize(
    ("kind", "text", "seconds"),
    [
        ("slurm", "90", 5400),
        ("slurm", "5:30", 330),
        ("slurm", "12:00:00", 43_200),
        ("slurm", "1-12", 129_600),
        ("slurm", "1-12:30", 131_400),
        ("slurm", "2-00:00:01", 172_801),
        ("slurm", "UNLIMITED", None),
        ("pbs", "12:00:00", 43_200),
        ("pbs", "600", 600),
        ("sge", "0:10:0", 600),
        ("lsf", "12:00", 43_200),
        ("lsf", "90", 5400),
        ("lsf", None, None),
    ],
)
def test_walltimes_are_read_as_the_batch_system_reads_them(kind, text, seconds):
    assert walltime_seconds(text, kind) == seconds


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("slurm", "an hour"),
        ("slurm", "1:2:3:4"),
        ("slurm", "-3"),
        ("pbs", "1-12"),
        ("lsf", "1:00:00"),
        ("sge", "0:0:0"),
    ],
)
def test_walltimes_that_cannot_be_read_are_refused(kind, text):
    with pytest.raises(InvalidSettingError, match=r"^walltime is"):
        walltime_seconds(text, kind)


def test_a_walltime_that_yaml_made_a_number_is_refused(tmp_path):
    (tmp_path / "c.yaml").write_text("memory: 1GB\ninterface: lo\nwalltime: 12:00:00\n")
    with pytest.raises(InvalidSettingError, match=r"walltime is 43200; write it in quotes"):
        cluster("slurm", config=tmp_path / "c.yaml").__enter__()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"cores": 0}, "cores is 0; it must be a whole number, at least 1"),
        ({"cores": "two"}, "cores is 'two'"),
        ({"cores": 2, "processes": 3}, "processes is 3 and cores is 2"),
        ({"memory": True}, "memory is True; it must be an amount of memory"),
        ({"timeout": -1}, "timeout is -1; it must be a number of seconds above 0"),
        ({"job_extra_directives": "--exclusive"}, "job_extra_directives is '--exclusive'; it must be a list of texts"),
        ({"scheduler_options": [1]}, r"scheduler_options is \[1\]; it must be a mapping"),
        ({"queue": ["a"]}, r"queue is \['a'\]; it must be text"),
        ({"job_mem": ["a"]}, r"job_mem is \['a'\]; it must be text or a number"),
        ({"nanny": False}, "has no option 'nanny'"),
        ({"project": "p"}, "has no option 'project'; known are: account, "),
        ({"n_workers": 3}, "has no option 'n_workers'"),
        ({"workers": {}}, "has no option 'workers'"),
        ({"memory": None}, "a slurm cluster needs the memory of a job, as 'memory: 8GB'"),
        ({"log_directory": __file__}, "test_batch.py is no folder"),
        ({"interface": None}, "must know where its jobs reach this machine"),
    ],
)
def test_impossible_options_are_refused_by_name(options, sentence):
    with pytest.raises(InvalidSettingError, match=sentence):
        ordered("slurm", **JOB | options)


def test_a_host_stands_for_an_interface():
    asked = ordered("slurm", memory="1GB", host="127.0.0.1")
    assert asked.keywords["scheduler_options"]["host"] == "127.0.0.1"
    assert "host" not in asked.keywords
    assert ordered("slurm", memory="1GB", scheduler_options={"host": "127.0.0.1"}).jobs == 2


def test_a_core_is_a_process():
    assert ordered("pbs", memory="1GB", interface="lo").keywords["cores"] == 1
    assert ordered("pbs", memory="1GB", interface="lo", cores=4).keywords["processes"] == 4
    assert ordered("pbs", memory="1GB", interface="lo", cores=4, processes=1).keywords["processes"] == 1


PRINTED = {
    "slurm": "12 RUNNING\n13 PENDING\n14 COMPLETING\n",
    "pbs": (
        "Job id            Name             User              Time Use S Queue\n"
        "----------------  ---------------- ----------------  -------- - -----\n"
        "12.server         dask-worker      me                00:00:01 R long\n"
        "13.server         dask-worker      me                0        Q long\n"
        "14.server         dask-worker      me                00:00:01 E long\n"
    ),
    "sge": (
        "job-ID  prior   name       user         state submit/start at     queue          slots ja-task-ID\n"
        "-----------------------------------------------------------------------------------------------\n"
        "     12 0.55500 dask-worke me           r     11/18/2026 10:00:00 long@node1         1\n"
        "     13 0.55500 dask-worke me           qw    11/18/2026 10:00:00                    1\n"
        "     14 0.55500 dask-worke me           dr    11/18/2026 10:00:00 long@node1         1\n"
    ),
    "lsf": "12 RUN\n13 PEND\n14 EXIT\n",
}


@pytest.mark.parametrize("kind", CLASSES)
def test_queues_are_read(kind):
    assert QUEUES[kind].read(PRINTED[kind]) == {"12": "running", "13": "pending"}
    assert QUEUES[kind].read("") == {}


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        (("printf", "12 RUN\\n"), {"12": "running"}),
        (("false",), None),
        (("no-such-command",), None),
        (("bash", "-c", "echo No unfinished job found >&2; exit 255"), {}),
    ],
)
def test_a_batch_system_without_an_answer_says_nothing_of_jobs(command, answer):
    assert asyncio.run(ask(Queue(command, 1, ("PEND",), ("EXIT",)))) == answer


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask_jobqueue", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'backbone-dask\[jobqueue\]'"):
        cluster("slurm", config=JOB).__enter__()


def test_a_missing_command_is_named(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ClusterError, match=r"^sbatch was not found"):
        cluster("slurm", config=JOB).__enter__()


def test_ctrl_c_means_what_it_meant():
    code = (
        "import signal; before = signal.getsignal(signal.SIGINT); from backbone_dask.launch import batch;"
        "batch._cluster_class('slurm'); assert signal.getsignal(signal.SIGINT) is before"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_commands_that_fail_are_one_sentence_and_leave_nothing(tmp_path, monkeypatch):
    """A batch system that takes no job: stand-ins for its commands."""
    monkeypatch.chdir(tmp_path)
    for name, body in {"qsub": "echo unknown queue >&2; exit 1", "qdel": "exit 0", "qstat": "exit 0"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    threads = threading.active_count()
    with pytest.raises(BackboneError, match=r"^pbs took no job \(unknown queue\)$"):
        cluster("pbs", config=JOB).__enter__()
    assert threading.active_count() <= threads + 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
