"""Podman with a storage of its own, and what an image is built from: nothing of the user's engine is touched."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import backbone_dask

ROOT = Path(backbone_dask.__file__).parents[1]
DOCKER = ROOT / "deploy" / "docker"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "backbone-dask-tests"
EXTRAS = "dashboard,tls,tree"
"""The default of the Dockerfile."""
NOT_IN_A_CHECKOUT = (".venv", ".git", "runs", "data", ".hypothesis", "*_cache", "__pycache__")

CONTAINERS = """
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[network]
network_backend = "netavark"
network_config_dir = "{home}/networks"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
lock_type = "file"
tmp_dir = "{home}/libpod"
"""
STORAGE = """
[storage]
driver = "{driver}"
graphroot = "{home}/storage"
runroot = "{home}/run"
"""


@dataclass(frozen=True)
class Engine:
    """Podman and podman-compose, run with settings of their own."""

    home: Path
    env: dict[str, str]

    def podman(self, *arguments: str, **options: object) -> str:
        return self.run("podman", *arguments, **options)

    def run(self, *command: str, check: bool = True, **env: str) -> str:
        done = subprocess.run(command, env=self.env | env, capture_output=True, text=True, timeout=600)
        if check and done.returncode:
            raise AssertionError(f"{' '.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return done.stdout

    def inspect(self, name: str) -> dict:
        return json.loads(self.podman("inspect", name))[0]


@contextmanager
def private_engine(home: Path) -> Iterator[Engine]:
    """An engine whose containers, images, volumes and networks are gone after the block."""
    home.mkdir(parents=True)
    (home / "containers.conf").write_text(CONTAINERS.format(home=home))
    (home / "storage.conf").write_text(STORAGE.format(home=home, driver=storage_driver(home)))
    env = os.environ | {
        "CONTAINERS_CONF": str(home / "containers.conf"),
        "CONTAINERS_STORAGE_CONF": str(home / "storage.conf"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    engine = Engine(home, env)
    try:
        yield engine
    finally:
        for command in ("rm --all --force --time 0", "network prune --force", "rmi --all --force"):
            engine.podman(*command.split(), check=False)
        subprocess.run(["umount", home / "storage" / "overlay"], check=False, capture_output=True)
        shutil.rmtree(home)


def storage_driver(folder: Path) -> str:
    """Overlays do not stack; vfs copies whole images, but works anywhere."""
    kind = subprocess.run(["stat", "--file-system", "--format=%T", folder], capture_output=True, text=True, check=True)
    return "vfs" if kind.stdout.strip() == "overlayfs" else "overlay"


def base_tar() -> Path:
    """A minimal Debian with Python, made once."""
    tar = CACHE / "base.tar"
    done = subprocess.run([DOCKER / "test-base.sh", tar], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return tar


def wheels(base: Path) -> Path:
    """All that pip installs into the image, downloaded once with this machine's settings of pip."""
    version = python_of(base)
    asked = "".join((ROOT / name).read_text() for name in ("pyproject.toml", "constraints.txt")) + version
    folder = CACHE / f"wheels-{hashlib.sha256(asked.encode()).hexdigest()[:12]}"
    if not folder.exists():
        for outdated in CACHE.glob("wheels-*"):
            shutil.rmtree(outdated)
        scratch = folder.with_name("wheels-unfinished")
        download(scratch, version)
        scratch.rename(folder)
    return folder


def download(folder: Path, version: str) -> None:
    # Binaries alone: the image has no compiler.
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary", ":all:", "--python-version", version]
    what = ["--constraint", ROOT / "constraints.txt", "--dest", folder, "hatchling", f"{ROOT}[{EXTRAS}]"]
    done = subprocess.run([*pip, *what], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]


def python_of(base: Path) -> str:
    """Such as 3.11: where the interpreter's link points."""
    with tarfile.open(base) as archive:
        return archive.getmember("./usr/bin/python3").linkname.removeprefix("python")


def checkout(to: Path, wheelhouse: Path) -> Path:
    """The repository as a user would have it, with wheels laid ready."""
    shutil.copytree(ROOT, to, ignore=shutil.ignore_patterns(*NOT_IN_A_CHECKOUT))
    for wheel in wheelhouse.iterdir():
        os.link(wheel, to / "deploy/docker/wheels" / wheel.name)
    return to
