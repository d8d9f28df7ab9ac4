"""What a batch system says about jobs: which of them wait, and which run."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

State: TypeAlias = Literal["pending", "running"]
States: TypeAlias = Mapping[str, State]

SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Queue:
    """A command that prints a job a line, the column of the states, and what states there begin with."""

    command: tuple[str, ...]
    column: int
    pending: tuple[str, ...]
    ended: tuple[str, ...]

    def read(self, text: str) -> dict[str, State]:
        """By the number of each job that waits or runs; those that end are left out."""
        lines = [line.split() for line in text.splitlines()]
        jobs = {line[0]: line[self.column] for line in lines if len(line) > self.column}
        return {
            number.group(): "pending" if state.startswith(self.pending) else "running"
            for name, state in jobs.items()
            if (number := re.match(r"\d+", name)) and not state.startswith(self.ended)
        }


QUEUES = {
    "slurm": Queue(
        ("squeue", "--me", "--noheader", "--format=%i %T"),
        column=1,
        pending=("PENDING", "REQUEUE", "CONFIGURING"),
        ended=("COMPLET", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "STOPPED", "OUT_OF_MEMORY"),
    ),
    "pbs": Queue(("qstat",), column=4, pending=("Q", "H", "W", "T"), ended=("E", "C", "F", "X")),
    "sge": Queue(("qstat",), column=4, pending=("qw", "hqw", "hR", "Rq", "Eq"), ended=("d",)),
    "lsf": Queue(
        ("bjobs", "-noheader", "-o", "jobid stat"), column=1, pending=("PEND", "PSUSP"), ended=("DONE", "EXIT", "ZOMBI")
    ),
}


async def ask(queue: Queue) -> dict[str, State] | None:
    """Jobs that wait or run, or None where the batch system gives no answer."""
    pipe = asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(*queue.command, stdout=pipe, stderr=pipe)
    except OSError:
        return None
    try:
        out, err = await asyncio.wait_for(process.communicate(), SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()
        return None
    # LSF calls it an error when there is no job left.
    if process.returncode and b"No unfinished job found" not in err:
        return None
    return queue.read(out.decode(errors="replace"))
