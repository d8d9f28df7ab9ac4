"""The Dockerfile by hadolint, the compose file by its schema, and what both promise; nothing is built here."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from dask.utils import parse_bytes

import backbone_dask
from backbone_dask.launch.worker_settings import ENVIRONMENT

ROOT = Path(backbone_dask.__file__).parents[1]
DOCKER = ROOT / "deploy" / "docker"
BIN = Path(sys.executable).parent
HADOLINT = (BIN / "hadolint",)
SCHEMA = (BIN / "check-jsonschema", "--builtin-schema", "vendor.compose-spec")


def checked(command: tuple[object, ...], path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*map(str, command), str(path)], capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def dockerfile() -> str:
    return (DOCKER / "Dockerfile").read_text()


@pytest.fixture(scope="module")
def services() -> dict[str, dict]:
    return yaml.safe_load((DOCKER / "compose.yaml").read_text())["services"]


@pytest.mark.parametrize(("command", "name"), [(HADOLINT, "Dockerfile"), (SCHEMA, "compose.yaml")])
def test_the_file_is_clean(command: tuple[object, ...], name: str) -> None:
    done = checked(command, DOCKER / name)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("command", "name", "sound", "damaged"),
    [
        (HADOLINT, "Dockerfile", "FROM ${BASE}", "FROM debian"),
        (HADOLINT, "Dockerfile", "--no-cache-dir ", ""),
        (HADOLINT, "Dockerfile", "WORKDIR /data", "WORKDIR data"),
        (HADOLINT, "Dockerfile", "USER 1000:1000", "USER root"),
        (SCHEMA, "compose.yaml", "mem_limit:", "memory_limit:"),
        (SCHEMA, "compose.yaml", "depends_on: [scheduler]", "depends_on: 1"),
    ],
)
def test_a_planted_fault_is_seen(tmp_path: Path, command: tuple, name: str, sound: str, damaged: str) -> None:
    text = (DOCKER / name).read_text()
    assert sound in text
    (tmp_path / name).write_text(text.replace(sound, damaged))
    assert checked(command, tmp_path / name).returncode != 0


def test_workers_have_one_thread_and_dask_notices_memory_before_the_kernel(services: dict[str, dict]) -> None:
    command = services["worker"]["command"]
    assert command[command.index("--nthreads") + 1] == "1"
    assert command[command.index("--memory-limit") + 1] == services["worker"]["mem_limit"] == "${WORKER_MEMORY:-2g}"
    assert parse_bytes("2g") < 2 * 2**30


def test_only_one_service_builds_and_all_run_the_same_image(services: dict[str, dict]) -> None:
    assert [name for name, service in services.items() if "build" in service] == ["scheduler"]
    assert len({service["image"] for service in services.values()}) == 1


def test_the_image_runs_workers_as_the_local_cluster_does(dockerfile: str) -> None:
    settings = dict(re.findall(r"^(?:ENV| {3}) (\w+)=(\S+)", dockerfile, flags=re.MULTILINE))
    assert {name: settings.get(name) for name in ENVIRONMENT} == ENVIRONMENT


def test_what_the_image_is_built_from_passes_the_ignore_file(dockerfile: str) -> None:
    passed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert all((ROOT / name).exists() for name in passed)
    needed = set(re.findall(r"/source/([\w./-]+)", dockerfile)) | {"backbone_dask", "pyproject.toml", "README.md"}
    assert needed <= passed
