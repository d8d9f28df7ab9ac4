"""Disks for tests."""

from __future__ import annotations

import subprocess

import pytest


@pytest.fixture
def small_disk(tmp_path):
    """A real file system of 1 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as cause:
        pytest.skip(f"mounting a small file system is not permitted here: {cause}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)
