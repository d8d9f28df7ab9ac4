"""The folder with the real data sets, which the user names once; worker processes inherit it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from benchmarks.paper.fetch import FILES, is_right

VARIABLE = "BACKBONE_PAPER_DATA"
BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"


class MissingDataError(FileNotFoundError):
    """A data set is not where it was said to be."""


def use_data(folder: Path | None) -> None:
    """For this process and those that it starts."""
    if folder is not None:
        os.environ[VARIABLE] = str(folder.resolve())


def data_folder() -> Path:
    return Path(os.environ.get(VARIABLE) or BESIDE)


def data_file(name: str) -> Path:
    """A file of the data folder, such as `uci/housing.data`."""
    folder = data_folder()
    if not (folder / name).exists():
        raise MissingDataError(
            f"{name} is not in {folder}; name the folder that has it with --data FOLDER, or fetch it with "
            "`python -m benchmarks.paper.fetch FOLDER`"
        )
    return folder / name


def other_content(name: str) -> str | None:
    """The SHA-256 of a file that is there and is not the one that the paper's tables are made from."""
    path = data_folder() / name
    if not path.is_file() or any(is_right(file, path.read_bytes()) for file in FILES if file.name == name):
        return None
    return hashlib.sha256(path.read_bytes()).hexdigest()
