"""One page that shows a run, whole in one file: no network, no script."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path
from typing import Any

from backbone_dask.errors import RunDirectoryError
from backbone_dask.report.html import element, text
from backbone_dask.report.material import Material, gather, read_result
from backbone_dask.report.sections.certificate import certificate_section
from backbone_dask.report.sections.choice import proof_section, trace_section, validation_section
from backbone_dask.report.sections.making import settings_section, times_section
from backbone_dask.report.sections.model import model_sections
from backbone_dask.report.sections.outcome import header, recovery_section
from backbone_dask.report.sections.search import coverage_section, funnel_section, growth_section, utilities_section
from backbone_dask.runtime.files import write_text

_BEGINNING = "<!doctype html>"
# Even a name that got past the escaping could load and run nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def write_report(run: str | os.PathLike[str], out: str | os.PathLike[str] | None = None) -> Path:
    """Draw the page of a finished run from its files, into `out` or the run's report.html; returns where it is.

    Examples
    --------
    >>> import subprocess, sys, tempfile
    >>> from backbone_dask import write_report
    >>> def command(line, folder):
    ...     run = [sys.executable, "-m", "backbone_dask.cli", *line.split()]
    ...     subprocess.run(run, check=True, capture_output=True, cwd=folder)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     command("simulate linear small.zarr --n 50 --p 200 --k 2 --snr 20", folder)
    ...     command("fit small.zarr -k 2 --out run --workers 0", folder)
    ...     write_report(folder + "/run").read_text()[:15]
    '<!doctype html>'
    """
    folder = Path(run)
    path = folder / "report.html" if out is None else Path(out)
    _require_page(path)
    write_text(path, page(gather(folder, read_result(folder))))
    return path


def run_page(run: Path, result: dict[str, Any]) -> str:
    """The page of a run whose result is not on disk yet."""
    return page(gather(run, result))


def page(material: Material) -> str:
    """The whole page as HTML."""
    title = f"{material.target}: {len(material.result['support']['ids'])} features"
    head = [
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        element("title", text(title)),
        element("style", files("backbone_dask.report").joinpath("page.css").read_text()),
    ]
    body = [header(material), element("main", *_sections(material)), _footer(material)]
    return f'{_BEGINNING}\n<html lang="en"><head>{"".join(head)}</head>\n<body>{"".join(body)}</body></html>\n'


def _sections(material: Material) -> list[str]:
    return [
        *model_sections(material),
        funnel_section(material),
        utilities_section(material),
        growth_section(material),
        coverage_section(material),
        recovery_section(material),
        validation_section(material),
        trace_section(material),
        proof_section(material),
        certificate_section(material),
        times_section(material),
        settings_section(material),
    ]


def _footer(material: Material) -> str:
    version = material.result["versions"]["backbone-dask"]
    said = f"Drawn from the files of the run alone; fitted with backbone-dask {version}. This page loads nothing."
    return element("footer", element("p", text(said)))


def _require_page(path: Path) -> None:
    """An older page may be replaced, another file may not."""
    if not path.exists():
        return
    if path.is_dir() or not path.read_bytes().startswith(_BEGINNING.encode()):
        raise RunDirectoryError(f"{path} exists and is not a page of a run; choose another --out")
