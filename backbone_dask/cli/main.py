"""The command `backbone-dask`."""

from __future__ import annotations

import signal
import sys
from importlib import import_module
from types import FrameType
from typing import NoReturn

import click

from backbone_dask import __version__
from backbone_dask.cli.logs import log_lines, verbose
from backbone_dask.errors import BackboneError

COMMANDS = ("simulate", "ingest", "interactions", "screen", "fit", "certify", "plan", "info", "report", "predict")


class _Lazy(click.Group):
    """Imports a command when it is called: `info` need not wait for solvers."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"backbone_dask.cli.{name}"), name)
        if verbose not in command.params:
            command.params.append(verbose)
        return command


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli() -> None:
    """Sparse, interpretable models on tables with up to 10^8 columns."""


cli.params.append(verbose)


def main(arguments: list[str] | None = None) -> None:
    """Run a command; what goes wrong on the user's side is a sentence, not a traceback."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        with log_lines():
            cli.main(arguments, standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (BackboneError, OSError) as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)
    except MemoryError as error:
        click.echo(f"error: not enough memory on this machine ({error})", err=True)
        sys.exit(1)
    except (KeyboardInterrupt, click.Abort) as cause:
        click.echo(
            "interrupted; what is finished is kept: "
            "fit goes on with --resume, screen, certify, simulate and ingest when called again",
            err=True,
        )
        # click wraps an interrupt in an Abort.
        ended = isinstance(cause.__cause__, _Terminated)
        sys.exit(128 + (signal.SIGTERM if ended else signal.SIGINT))


class _Terminated(KeyboardInterrupt):
    """SIGTERM takes the same way out as Ctrl-C: workers are ended and files closed."""


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    raise _Terminated
