"""Execute notebooks where they stand: python notebooks/run.py [NAME.ipynb ...]; outputs are written back."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

HERE = Path(__file__).parent
LIMIT = 120
NEEDS_SLURM = ("05_slurm.ipynb",)


def paths() -> list[Path]:
    return sorted(HERE.glob("*.ipynb"))


def executed(path: Path, folder: Path) -> nbformat.NotebookNode:
    """The notebook with the outputs of this checkout and this interpreter; its files go to `folder`."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as scratch:
        # Sockets in the file system: nothing listens on the network.
        sockets = {"transport": "ipc", "ip": f"{scratch}/kernel"}
        NotebookClient(
            notebook,
            timeout=LIMIT,
            kernel_name="python3",
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": str(folder)}},
            config=Config({"KernelManager": sockets}),
        ).execute(env=environment(scratch))
    return notebook


def environment(scratch: str) -> dict[str, str]:
    """This checkout's package and the commands of this interpreter come first; nobody's own settings of figures."""
    places = [str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    commands = [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    own = {"PYTHONPATH": os.pathsep.join(places), "PATH": os.pathsep.join(commands), "IPYTHONDIR": scratch}
    return {**os.environ, **own}


def main(names: list[str]) -> None:
    for path in [HERE / name for name in names] or [path for path in paths() if path.name not in NEEDS_SLURM]:
        with tempfile.TemporaryDirectory() as folder:
            nbformat.write(executed(path, Path(folder)), path)
        print(path.name)


if __name__ == "__main__":
    main(sys.argv[1:])
