"""The files of the UCI repository that the tables T1 to T4 are made from.

    python -m benchmarks.paper.fetch FOLDER [--site URL]

Writes FOLDER/uci/*.data, for `python -m benchmarks.paper --data FOLDER`. Each file is checked against its SHA-256
before it has its name; one that is there already and right is not read again.
"""

from __future__ import annotations

import argparse
import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

SITE = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
SECONDS = 60.0
"""Without a byte from the site."""


class FetchError(Exception):
    """A file could not be read, or is not the one that was asked for."""


@dataclass(frozen=True)
class File:
    """Of the site: its path there, and what its bytes hash to."""

    source: str
    sha256: str

    @property
    def name(self) -> str:
        """In the data folder."""
        return f"uci/{Path(self.source).name}"


FILES = (
    File("communities/communities.data", "09e0b5c07eae24c1efab19b2edee05e160e7f5743b6f31e31eec3d73624da2ea"),
    File("housing/housing.data", "baadf72995725d76efe787b664e1f083388c79ba21ef9a7990d87f774184735a"),
    File(
        "breast-cancer-wisconsin/breast-cancer-wisconsin.data",
        "402c585309c399237740f635ef9919dc512cca12cbeb20de5e563a4593f22b64",
    ),
    File("ionosphere/ionosphere.data", "46d52186b84e20be52918adb93e8fb9926b34795ff7504c24350ae0616a04bbd"),
)


def fetch(file: File, folder: Path, site: str = SITE) -> bool:
    """Whether the file had to be read from the site; it is in the folder then, whole and right."""
    path = folder / file.name
    if path.exists() and is_right(file, path.read_bytes()):
        return False
    content = downloaded(site.rstrip("/") + "/" + file.source, path)
    if not is_right(file, content):
        raise FetchError(
            f"{site.rstrip('/')}/{file.source} has not the expected SHA-256: look whether only its line endings differ "
            f"(communities.data has CRLF, the others LF), and put the file that you trust at {path}"
        )
    put(path, content)
    return True


def is_right(file: File, content: bytes) -> bool:
    return hashlib.sha256(content).hexdigest() == file.sha256


def downloaded(url: str, path: Path) -> bytes:
    try:
        with urlopen(url, timeout=SECONDS) as answer:
            return bytes(answer.read())
    except (OSError, ValueError, HTTPException) as problem:
        raise FetchError(
            f"{url} could not be read ({problem}): read it where there is a network, and put it at {path}"
        ) from problem


def put(path: Path, content: bytes) -> None:
    """A file is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        scratch.write_bytes(content)
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--site", default=SITE, help="another site with the same paths")
    asked = parser.parse_args(words)
    for file in FILES:
        try:
            read = fetch(file, asked.folder, asked.site)
        except FetchError as refusal:
            raise SystemExit(str(refusal)) from refusal
        print(f"{asked.folder / file.name}: {'read' if read else 'there already'}", flush=True)


if __name__ == "__main__":
    main()
