"""The configuration of a cluster: a YAML file, or the mapping that it would hold."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from backbone_dask.errors import InvalidSettingError


def read_config(config: str | os.PathLike[str] | Mapping[str, Any] | None) -> dict[str, Any]:
    """Options by name; none without a configuration."""
    if config is None:
        return {}
    if isinstance(config, Mapping):
        return dict(config)
    content = _parsed(Path(config))
    if content is None:
        return {}
    if not isinstance(content, dict) or not all(isinstance(name, str) for name in content):
        raise InvalidSettingError(f"{config} holds no options; write one 'name: value' a line")
    return content


def _parsed(path: Path) -> Any:
    try:
        return yaml.safe_load(path.read_text())
    except OSError as cause:
        raise InvalidSettingError(f"the cluster's configuration {path} cannot be read ({cause.strerror})") from cause
    except (yaml.YAMLError, UnicodeDecodeError) as cause:
        words = " ".join(str(cause).split())
        raise InvalidSettingError(f"{path} is no YAML: {words}") from cause


def seconds_of(options: Mapping[str, Any]) -> float | None:
    """The option `timeout`, if it is given."""
    seconds = options.get("timeout")
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
        raise InvalidSettingError(f"timeout: {seconds!r} is no number of seconds above 0")
    return float(seconds)


def require_known(options: Mapping[str, Any], known: set[str], kind: str) -> None:
    """Refuse an option that the launcher would not read."""
    strangers = sorted(set(options) - known)
    if strangers:
        raise InvalidSettingError(
            f"a {kind} cluster has no option {strangers[0]!r}; known are: {', '.join(sorted(known)) or 'none'}"
        )
