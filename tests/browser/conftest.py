"""A real browser, and finished runs to look at."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright
from report_cases import make_runs

QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def chromium() -> str:
    """Where Chromium is; root on Debian installs it, others skip."""
    if found := shutil.which("chromium"):
        return found
    if os.getuid() != 0 or not Path("/etc/debian_version").exists():
        pytest.skip("there is no chromium, and only root on Debian installs it")
    # Others that install packages take the same lock.
    with open("/var/lock/backbone-dask-apt", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for step in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
            subprocess.run(["apt-get", "-q", *step], check=True, env=quiet, capture_output=True, timeout=280)
    return shutil.which("chromium") or pytest.fail("chromium was installed and cannot be found")


@pytest.fixture(scope="module")
def browser():
    path = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(QUIET))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A folder with the runs `linear`, `certified`, `logistic` and `tree`."""
    return make_runs(tmp_path_factory.mktemp("browser"))


@pytest.fixture
def show(browser, runs):
    """Opens the page of a run; at the end nothing may have been complained of or asked for."""
    contexts, trouble = [], []

    def opened(name, *, width=1200, scheme="light", media="screen"):
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("request", lambda request: trouble.extend([] if request.url.endswith("report.html") else [request.url]))
        page.on("requestfailed", lambda request: trouble.append(request.url))
        page.emulate_media(media=media, color_scheme=scheme)
        page.goto((runs / name / "report.html").as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert trouble == []
