"""Answers on standard output, everything else on standard error."""

from __future__ import annotations

import json
from typing import Any

import click


def show(content: dict[str, Any], text: str, as_json: bool) -> None:
    """Print the machine's or the person's form of one answer."""
    click.echo(json.dumps(content, allow_nan=False) if as_json else text)


def note(text: str, as_json: bool) -> None:
    """A remark for people; machines are not bothered with it."""
    if not as_json:
        click.echo(text)
