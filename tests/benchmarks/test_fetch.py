"""The files of the UCI repository, from a server of this machine: read once, checked, whole or not there at all."""

from __future__ import annotations

import hashlib
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from benchmarks.paper.data import BESIDE
from benchmarks.paper.fetch import FILES, FetchError, File, fetch, is_right, put
from benchmarks.paper.permuted import TABLES

ROOT = Path(__file__).parents[2]
CONTENT = b"1,2,3\r\n4,5,6\r\n"
WANTED = File("numbers/numbers.data", hashlib.sha256(CONTENT).hexdigest())


@dataclass(frozen=True)
class Site:
    """A folder that is served, and the paths that were asked for."""

    folder: Path
    url: str
    asked: list[str] = field(default_factory=list)


class Handler(SimpleHTTPRequestHandler):
    """Says twice the length of files called `cut`, as when a connection ends early."""

    def __init__(self, *args: Any, asked: list[str], **keywords: Any) -> None:
        self.asked = asked
        super().__init__(*args, **keywords)

    def log_message(self, format: str, *args: Any) -> None:
        self.asked.append(self.path)

    def send_header(self, keyword: str, value: str) -> None:
        longer = keyword == "Content-Length" and "cut" in self.path
        super().send_header(keyword, str(2 * int(value)) if longer else value)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    folder, asked = tmp_path / "site", []
    (folder / "numbers").mkdir(parents=True)
    (folder / "numbers" / "numbers.data").write_bytes(CONTENT)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder), asked=asked)) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield Site(folder, f"http://127.0.0.1:{server.server_port}/", asked)
        server.shutdown()


def closed_port() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


def files_in(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]


def command(folder: Path, url: str) -> subprocess.CompletedProcess[str]:
    asked = [sys.executable, "-m", "benchmarks.paper.fetch", str(folder), "--site", url]
    return subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, timeout=60)


def test_a_file_is_read_once(site: Site, tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert fetch(WANTED, home, site.url) is True
    assert (home / "uci" / "numbers.data").read_bytes() == CONTENT
    assert fetch(WANTED, home, site.url) is False
    assert site.asked == ["/numbers/numbers.data"]
    assert files_in(home) == ["uci/numbers.data"]


def test_a_file_that_is_there_and_wrong_is_read_again(site: Site, tmp_path: Path) -> None:
    (tmp_path / "uci").mkdir()
    (tmp_path / "uci" / "numbers.data").write_bytes(CONTENT[:5])
    assert fetch(WANTED, tmp_path, site.url) is True
    assert (tmp_path / "uci" / "numbers.data").read_bytes() == CONTENT


def test_other_line_endings_are_refused_in_one_sentence(site: Site, tmp_path: Path) -> None:
    (site.folder / "numbers" / "numbers.data").write_bytes(CONTENT.replace(b"\r\n", b"\n"))
    home = tmp_path / "home"
    with pytest.raises(FetchError, match=r"has not the expected SHA-256: .* line endings .* put the file"):
        fetch(WANTED, home, site.url)
    assert files_in(home) == []


def test_what_the_user_put_there_outlasts_a_wrong_file(site: Site, tmp_path: Path) -> None:
    (site.folder / "numbers" / "numbers.data").write_bytes(b"other")
    (tmp_path / "uci").mkdir()
    (tmp_path / "uci" / "numbers.data").write_bytes(b"own")
    with pytest.raises(FetchError):
        fetch(WANTED, tmp_path, site.url)
    assert (tmp_path / "uci" / "numbers.data").read_bytes() == b"own"


@pytest.mark.parametrize("name", ["cut", "missing"])
def test_half_a_file_and_none_leave_nothing(name: str, site: Site, tmp_path: Path) -> None:
    (site.folder / "cut.data").write_bytes(CONTENT)
    home = tmp_path / "home"
    with pytest.raises(FetchError, match=rf"{name}.data could not be read .*: read it where there is a network"):
        fetch(replace(WANTED, source=f"{name}.data"), home, site.url)
    assert files_in(home) == []


def test_a_file_that_cannot_have_its_name_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "numbers.data" / "full").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        put(tmp_path / "numbers.data", CONTENT)
    assert files_in(tmp_path) == []


@pytest.mark.parametrize("address", [closed_port, lambda: "no-address"], ids=["refused", "no address"])
def test_without_a_network_the_command_says_in_one_sentence_what_to_do(
    address: Callable[[], str], tmp_path: Path
) -> None:
    done = command(tmp_path, address())
    assert done.returncode == 1
    place = tmp_path / "uci" / "communities.data"
    assert done.stderr.endswith(f"read it where there is a network, and put it at {place}\n")
    assert done.stderr.count("\n") == 1
    assert files_in(tmp_path) == []


def test_the_command_reads_what_the_tables_read(site: Site, tmp_path: Path) -> None:
    if not (BESIDE / "uci").is_dir():
        pytest.skip(f"the real data are not in {BESIDE.name} beside the project")
    for file in FILES:
        (site.folder / file.source).parent.mkdir(exist_ok=True)
        (site.folder / file.source).symlink_to(BESIDE / file.name)
    for word in ("read", "there already"):
        done = command(tmp_path / "home", site.url)
        assert done.stdout.splitlines() == [f"{tmp_path / 'home' / file.name}: {word}" for file in FILES], done.stderr
    assert all(is_right(file, (tmp_path / "home" / file.name).read_bytes()) for file in FILES)


def test_every_file_of_a_table_is_known() -> None:
    assert {file.name for file in FILES} == {name for name, _ in TABLES.values()}
