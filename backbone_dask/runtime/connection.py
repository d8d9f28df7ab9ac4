"""A scheduler that went away, and workers that are not there yet: waiting for them, and no longer than makes sense."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from distributed import Client
from distributed.client import FutureCancelledError, FuturesCancelledError
from distributed.comm import CommClosedError

from backbone_dask.errors import ClusterError

CANCELLED = (FutureCancelledError, FuturesCancelledError)
# The last is an answer that was on its way when the scheduler went down.
LOST = (*CANCELLED, CommClosedError)
PATIENCE = 600.0
MOST_QUESTIONS = 10

log = logging.getLogger(__name__)


def await_scheduler(client: Client) -> None:
    """Until the client has found its scheduler again; Dask gives up after the client's own timeout."""
    if client.status == "connecting":
        log.warning("the connection to the scheduler is lost; waiting for it to come back")
    while client.status == "connecting":
        time.sleep(0.1)
    if client.status != "running":
        raise ClusterError(
            "the connection to the scheduler is lost and it did not come back; what is finished is kept: start the "
            "cluster and go on with --resume"
        )


def ask_scheduler(client: Client, question: Callable[[], Any]) -> Any:
    """An answer of the scheduler, also if it is restarted meanwhile."""
    for _ in range(MOST_QUESTIONS):
        try:
            return question()
        except TimeoutError:
            raise
        except OSError:
            # The client may take a moment to notice.
            time.sleep(0.5)
            await_scheduler(client)
    return question()


def dashboard_of(client: Client) -> str | None:
    """Where people can see what the cluster does, if there is such a place."""
    # A scheduler in this process draws with the bokeh that is here.
    if client.cluster is not None and find_spec("bokeh") is None:
        return None
    try:
        link: str | None = client.dashboard_link
    except (KeyError, OSError):
        return None
    return link or None


def await_workers(client: Client) -> None:
    """Until there is a worker."""
    try:
        ask_scheduler(client, lambda: client.wait_for_workers(1, timeout=PATIENCE))
    except TimeoutError as cause:
        raise ClusterError(
            f"no worker came back within {PATIENCE:.0f} s; what is finished is kept: --resume"
        ) from cause
