"""The command `backbone-dask`."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import NoReturn

import click

from backbone_dask import __version__
from backbone_dask.cli.fit import fit
from backbone_dask.cli.info import info
from backbone_dask.cli.plan import plan
from backbone_dask.cli.predict import predict
from backbone_dask.cli.simulate import simulate
from backbone_dask.errors import BackboneError


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli() -> None:
    """Sparse, interpretable models on tables with up to 10^8 columns."""


for command in (simulate, fit, plan, info, predict):
    cli.add_command(command)


def main() -> None:
    """Run a command; what goes wrong on the user's side is a sentence, not a traceback."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        cli.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except BackboneError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted; what is finished is kept: use --resume to go on", err=True)
        sys.exit(130)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    # The same way out as Ctrl-C: workers are ended and files closed.
    raise KeyboardInterrupt
