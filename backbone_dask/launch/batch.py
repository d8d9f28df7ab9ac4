"""Batch systems: a worker, or several, in each of a number of jobs that dask_jobqueue submits."""

from __future__ import annotations

import inspect
import logging
import shutil
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

import dask
from distributed import Client
from distributed.security import Security

from backbone_dask.errors import ClusterError, MissingExtraError
from backbone_dask.launch.blame import LOSSES, Blame
from backbone_dask.launch.certificates import certificates_in_files
from backbone_dask.launch.jobs import Order, order
from backbone_dask.launch.keeper import Keeper
from backbone_dask.launch.listening import require_free
from backbone_dask.launch.local import interrupts_wait

if TYPE_CHECKING:
    from backbone_dask.launch.clusters import Request

CLASSES = {"slurm": "SLURMCluster", "pbs": "PBSCluster", "sge": "SGECluster", "lsf": "LSFCluster"}
# Set by this module, taken over from an older name, or of no use to a configuration.
HIDDEN = {
    *("self", "scheduler", "name", "config_name", "job_cls", "scheduler_cls", "n_workers", "loop", "asynchronous"),
    *("security", "protocol", "silence_logs", "dashboard_address", "nanny", "worker_command", "host"),
    *("extra", "job_extra", "env_extra", "header_skip", "kwargs", "job_kwargs", "base_class_kwargs"),
}
SETTINGS = {
    "distributed.scheduler.allowed-failures": LOSSES,
    # Dask would cancel a job some seconds after its only worker is gone, and never submit another: the keeper decides.
    "distributed.deploy.lost-worker-timeout": "3650 days",
    "distributed.admin.system-monitor.log-length": 600,
    "distributed.admin.low-level-log-length": 100,
}
_GLANCE = 0.2


@contextmanager
def launch(request: Request) -> Iterator[Client]:
    """A Client of a cluster in batch jobs; leaving the block cancels them all."""
    cluster_class = _cluster_class(request.kind)
    asked = order(
        request.kind, request.workers, request.options, known_options(cluster_class), _dask_defaults(request.kind)
    )
    _require_commands(request.kind, cluster_class)
    if "host" in asked.keywords["scheduler_options"]:
        require_free(str(asked.keywords["scheduler_options"]["host"]), 0)
    with dask.config.set(SETTINGS), _cancelled_at_the_end() as stack:
        with interrupts_wait():
            security = stack.enter_context(certificates_in_files(asked.shared)) if request.tls else None
            cluster = stack.enter_context(start(cluster_class, asked, security))
            keeper = stack.enter_context(_kept(cluster, request.kind, asked))
            client = stack.enter_context(Client(cluster))
        _wait_for_worker(cluster, keeper, request.kind, asked)
        yield client


def start(cluster_class: Any, asked: Order, security: Security | None = None) -> Any:
    """A scheduler in this process, and no job yet."""
    scheduler = {**asked.keywords["scheduler_options"], "plugins": [Blame()]}
    keywords = {**asked.keywords, "scheduler_options": scheduler, "silence_logs": logging.CRITICAL}
    try:
        return cluster_class(**keywords, security=security)
    except (ValueError, RuntimeError, OSError) as cause:
        raise ClusterError(f"the scheduler could not be started ({_words(cause)})") from cause


def known_options(cluster_class: Any) -> set[str]:
    """What the class and its jobs take, apart from what is decided here."""
    job = cluster_class.job_cls
    called = (cluster_class.__init__, job.__init__, job.__base__.__init__)
    named = {name for function in called for name in inspect.signature(function).parameters}
    # Slurm's and PBS's classes take `account`, and `project` as an older word for it.
    older = {"project"} if "account" in inspect.signature(job.__init__).parameters else set()
    return named - HIDDEN - older


@contextmanager
def _cancelled_at_the_end() -> Iterator[ExitStack]:
    """A second Ctrl-C must not leave jobs behind that the first was about to cancel."""
    with ExitStack() as stack:
        try:
            yield stack
        finally:
            with interrupts_wait():
                stack.close()


@contextmanager
def _kept(cluster: Any, kind: str, asked: Order) -> Iterator[Keeper]:
    keeper = Keeper(cluster, kind, asked)
    try:
        try:
            cluster.sync(keeper.start)
        except (RuntimeError, ValueError, OSError) as cause:
            # The frames hold jobs that were never submitted, and the cluster insists that none is left when it closes.
            raise ClusterError(f"{kind} took no job ({_words(cause)})") from cause.with_traceback(None)
        yield keeper
    finally:
        cluster.sync(keeper.stop)


def _wait_for_worker(cluster: Any, keeper: Keeper, kind: str, asked: Order) -> None:
    deadline = time.monotonic() + asked.timeout
    while not keeper.connected:
        if keeper.problem:
            raise ClusterError(keeper.problem)
        if time.monotonic() > deadline:
            states = Counter((cluster.sync(keeper.queue) or {}).get(job.number, "gone") for job in keeper.crew.jobs)
            raise ClusterError(
                f"no worker of {asked.jobs} {kind} jobs came within {asked.timeout:g} seconds ({states['pending']} "
                f"pending, {states['running']} running); raise 'timeout', or see the logs in {asked.logs}"
            )
        time.sleep(_GLANCE)


def _cluster_class(kind: str) -> Any:
    return getattr(_dask_jobqueue(), CLASSES[kind])


def _dask_jobqueue() -> ModuleType:
    # Its import makes Ctrl-C end the program without a word, and is possible in the main thread only.
    before = signal.getsignal(signal.SIGINT)
    try:
        import dask_jobqueue
    except ImportError as cause:
        raise MissingExtraError("batch systems need dask-jobqueue: pip install 'backbone-dask[jobqueue]'") from cause
    except ValueError as cause:
        raise ClusterError("dask_jobqueue is imported in the main thread only; import it there first") from cause
    if signal.getsignal(signal.SIGINT) is not before:
        signal.signal(signal.SIGINT, before)
    module: ModuleType = dask_jobqueue
    return module


def _dask_defaults(kind: str) -> dict[str, Any]:
    """What Dask's own configuration files say about the batch system."""
    settings: dict[str, Any] = dask.config.get(f"jobqueue.{kind}", {})
    return {name.replace("-", "_"): value for name, value in settings.items()}


def _require_commands(kind: str, cluster_class: Any) -> None:
    for command in (cluster_class.job_cls.submit_command, cluster_class.job_cls.cancel_command):
        if shutil.which(command.split()[0]) is None:
            raise ClusterError(f"{command} was not found; a {kind} cluster starts where jobs can be submitted")


def _words(cause: BaseException) -> str:
    """Of a failed command what it printed, else the message, in one line."""
    printed = str(cause).rpartition("stderr:\n")[2]
    return " ".join(printed.split()) or type(cause).__name__
