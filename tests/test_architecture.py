"""Imports point down, every heavy library has one home, files and functions stay small."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import backbone_dask

PACKAGE = "backbone_dask"
ROOT = Path(backbone_dask.__file__).parent

VOCABULARY = {
    "values",
    "columns",
    "adjustment",
    "certificate",
    "protocols",
    "setting_ranges",
    "settings",
    "errors",
    "registry",
    "structure",
    "threads",
    "tree_settings",
    "watching",
}
CORE = VOCABULARY | {"algorithm"}
MATHS = {"screens", "subproblems", "exact"}
SHARED = {"losses", "trees"}
FUNCTIONS = CORE | MATHS | SHARED | {"store", "runtime"}
MAY_IMPORT: dict[str, set[str]] = {
    **dict.fromkeys(VOCABULARY, VOCABULARY),
    "algorithm": VOCABULARY,
    **dict.fromkeys(SHARED, CORE),
    **dict.fromkeys(MATHS, CORE | SHARED),
    "store": CORE,
    "runtime": CORE,
    "problems": FUNCTIONS,
    "testing": FUNCTIONS | {"problems"},
    "estimators": FUNCTIONS | {"problems"},
    "launch": FUNCTIONS | {"problems", "estimators"},
    "report": FUNCTIONS | {"problems", "estimators"},
    "cli": FUNCTIONS | {"problems", "estimators", "launch", "report"},
}
"""Which parts of the package a part may import, besides itself. Siblings never import each other."""

HOMES: dict[str, tuple[str, ...]] = {
    "zarr": ("store/",),
    "fsspec": ("store/",),
    "dask": ("runtime/", "launch/", "estimators/execution.py"),
    "distributed": ("runtime/", "launch/", "estimators/execution.py"),
    "dask_jobqueue": ("launch/",),
    "dask_kubernetes": ("launch/",),
    "kubernetes": ("launch/",),
    "cryptography": ("launch/temporary_tls.py",),
    "pyomo": ("exact/highs.py", "exact/trees/mio.py"),
    "highspy": ("exact/highs.py",),
    "pystreed": ("exact/trees/dp.py",),
    "glmnet": ("subproblems/elastic_net.py",),
    "matplotlib": ("report/plots.py",),
    "click": ("cli/",),
    "rich": ("cli/",),
    "hypothesis": ("testing/strategies.py",),
    "pytest": ("testing/contracts/",),
}
"""Where a library may be imported: folders and files."""

MOST_FILE_LINES, MOST_FUNCTION_LINES = 299, 39
NOT_AT_IMPORT = (
    "dask_jobqueue",
    "kubernetes",
    "matplotlib",
    "pyomo",
    "zarr",
    "glmnet",
    "pystreed",
    "pytest",
    "hypothesis",
)


def sources(root: Path) -> Iterator[tuple[str, ast.Module]]:
    """Every file of a package by its path inside it, except the package's own face, which imports by name."""
    for path in sorted(root.rglob("*.py")):
        inside = path.relative_to(root).as_posix()
        if inside != "__init__.py":
            yield inside, ast.parse(path.read_text())


def imports(inside: str, tree: ast.Module) -> Iterator[str]:
    """Absolute names of all that a file imports, wherever in the file."""
    folders = [PACKAGE, *Path(inside).parent.parts]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = folders[: len(folders) - node.level + 1] if node.level else []
            start = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{start}.{alias.name}" for alias in node.names)


def part_of(inside: str) -> str:
    return Path(inside).parts[0].removesuffix(".py")


def wrong_arrows(root: Path) -> list[str]:
    found = []
    for inside, tree in sources(root):
        part = part_of(inside)
        if part not in MAY_IMPORT:
            found.append(f"{inside}: {part} has no layer")
            continue
        targets = [name.split(".")[1] for name in imports(inside, tree) if name.startswith(f"{PACKAGE}.")]
        found += [
            f"{inside} imports {target}" for target in targets if target not in MAY_IMPORT[part] | {part, "__version__"}
        ]
    return found


def strays(root: Path) -> list[str]:
    """Heavy libraries away from home."""
    return [
        f"{inside} imports {name}"
        for inside, tree in sources(root)
        for name in imports(inside, tree)
        if not inside.startswith(HOMES.get(name.split(".")[0], ("",)))
    ]


def too_long(root: Path) -> list[str]:
    found = []
    for path in sorted(root.rglob("*.py")):
        text, name = path.read_text(), path.relative_to(root).as_posix()
        if (lines := len(text.splitlines())) > MOST_FILE_LINES:
            found.append(f"{name} has {lines} lines")
        found += [f"{name}:{node.name} is long" for node in ast.walk(ast.parse(text)) if is_long_function(node)]
    return found


def is_long_function(node: ast.AST) -> bool:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    # Examples in docstrings are documentation, and executed as such.
    _, heading, examples = (ast.get_docstring(node) or "").partition("\nExamples\n--------")
    shown = (heading + examples).count("\n") + bool(heading)
    return (node.end_lineno or node.lineno) - node.lineno + 1 - shown > MOST_FUNCTION_LINES


def loaded_by(statement: str) -> set[str]:
    """Top-level modules of a fresh process after one statement."""
    code = f"import sys\n{statement}\nprint(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    return set(done.stdout.split())


def test_imports_point_down() -> None:
    assert wrong_arrows(ROOT) == []


def test_heavy_libraries_stay_at_home() -> None:
    assert strays(ROOT) == []


def test_files_and_functions_stay_small() -> None:
    assert too_long(ROOT) == []


def test_every_part_has_a_layer_and_every_layer_a_part() -> None:
    there = {part_of(inside) for inside, _ in sources(ROOT)}
    assert there == set(MAY_IMPORT)


def test_importing_the_package_loads_nothing_heavy() -> None:
    loaded = loaded_by("import backbone_dask")
    assert PACKAGE in loaded
    assert loaded.isdisjoint(NOT_AT_IMPORT)


def test_the_estimators_load_neither_plots_nor_cluster_managers_nor_test_tools() -> None:
    loaded = loaded_by("import backbone_dask.estimators")
    assert "dask" in loaded
    assert loaded.isdisjoint({"dask_jobqueue", "dask_kubernetes", "kubernetes", "matplotlib", "pytest", "hypothesis"})


# The checkers themselves can fail: each of these plants one fault in a package that is otherwise clean.


def plant(root: Path, inside: str, text: str) -> Path:
    path = root / inside
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("inside", "text", "complaint"),
    [
        ("algorithm/a.py", "from backbone_dask.store import reader", "algorithm/a.py imports store"),
        ("algorithm/a.py", "import backbone_dask.runtime.run", "algorithm/a.py imports runtime"),
        ("algorithm/a.py", "from backbone_dask import estimators", "algorithm/a.py imports estimators"),
        ("algorithm/deep/a.py", "from ...problems import linear", "algorithm/deep/a.py imports problems"),
        ("algorithm/a.py", "from .. import cli", "algorithm/a.py imports cli"),
        ("values.py", "def f():\n    from backbone_dask.algorithm import ranking", "values.py imports algorithm"),
        ("screens/a.py", "from backbone_dask.exact import gram", "screens/a.py imports exact"),
        ("losses/a.py", "from backbone_dask.exact import gram", "losses/a.py imports exact"),
        ("store/a.py", "from backbone_dask.runtime import run", "store/a.py imports runtime"),
        ("estimators/a.py", "from backbone_dask.launch import local", "estimators/a.py imports launch"),
        ("report/a.py", "from backbone_dask.cli import main", "report/a.py imports cli"),
        ("testing/a.py", "from backbone_dask.estimators import fitting", "testing/a.py imports estimators"),
        ("problems/a.py", "from backbone_dask.testing import planted", "problems/a.py imports testing"),
        ("newcomer/a.py", "", "newcomer/a.py: newcomer has no layer"),
    ],
)
def test_a_planted_arrow_is_seen(tmp_path: Path, inside: str, text: str, complaint: str) -> None:
    plant(tmp_path, "exact/fine.py", "import numpy\nfrom backbone_dask.losses.squared import ridge\nfrom . import gram")
    assert wrong_arrows(tmp_path) == []
    assert wrong_arrows(plant(tmp_path, inside, text)) == [complaint]


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        ("runtime/a.py", "import zarr"),
        ("estimators/regressor.py", "from distributed import Client"),
        ("exact/cuts.py", "import pyomo.environ as pyo"),
        ("report/summary.py", "def f():\n    from rich import print"),
        ("store/a.py", "import dask.array"),
        ("testing/planted.py", "import hypothesis"),
        ("values.py", "import pytest"),
    ],
)
def test_a_planted_stray_is_seen(tmp_path: Path, inside: str, text: str) -> None:
    plant(tmp_path, "store/fine.py", "import zarr\nimport numpy as np")
    plant(tmp_path, "estimators/execution.py", "from distributed import get_client")
    assert strays(tmp_path) == []
    assert len(strays(plant(tmp_path, inside, text))) == 1


def test_planted_length_is_seen(tmp_path: Path) -> None:
    function = "def f():\n" + "    pass\n" * 38
    plant(tmp_path, "fine.py", function + "x = 1\n" * 260)
    assert too_long(tmp_path) == []
    plant(tmp_path, "file.py", "x = 1\n" * 300)
    plant(tmp_path, "function.py", "class C:\n    async def g(self):\n" + "        pass\n" * 39)
    assert too_long(tmp_path) == ["file.py has 300 lines", "function.py:g is long"]
