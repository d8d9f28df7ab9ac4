"""Draw notebooks/report.png: the top of a run's page, as a browser shows it."""

from __future__ import annotations

import shutil
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

from playwright.sync_api import sync_playwright

from backbone_dask.cli.main import cli

OUT = Path(__file__).parents[1] / "notebooks" / "report.png"
SHAPE = ("--n", "1000", "--p", "100000", "--k", "10", "--rho", "0.9", "--snr", "2", "--seed", "1")


def run(folder: Path) -> Path:
    """The example of `make run`, from a recipe: no table is written."""
    with chdir(folder):
        cli.main(["simulate", "linear", "demo.json", *SHAPE, "--virtual"], standalone_mode=False)
        cli.main(["fit", "demo.json", "-k", "10", "--out", "run", "--quiet", "--json"], standalone_mode=False)
    return folder / "run" / "report.html"


def picture(page: Path, out: Path) -> None:
    """From the headline to the end of the funnel, in light colours."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1120, "height": 900}, device_scale_factor=1, color_scheme="light")
        tab.goto(page.as_uri())
        box = tab.locator("#utilities").bounding_box()
        clip = {"x": 0, "y": 0, "width": 1120, "height": box["y"] + box["height"]}
        tab.screenshot(path=out, full_page=True, clip=clip)
        browser.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        picture(run(Path(folder)), Path(sys.argv[1]) if len(sys.argv) > 1 else OUT)
