"""Real data beyond the paper, cross-validated against the lasso and abess.

    python -m benchmarks.real riboflavin|microarray|mice|hapmap|text|mice-pairs|all --out FOLDER [--data FOLDER]
        [--folds 5] [--repeats 1] [--first N] [--abess-python PATH] [--methods NAME ...]

A result for each (data set, method, fold) is a JSON file in --out; a call that is repeated goes on after the last one.
All results of a study are in --out in one file, STUDY.json, and as a Markdown table in STUDY.md, which is also printed:
also those that this call does not ask for. What STUDY.json has is not made again, so `--out benchmarks/real/results`
goes on with what is published. Results of other samples or other settings do not count, are left out and made again.
After Ctrl-C what is finished is written and printed as well.
"""

from __future__ import annotations

from benchmarks.machine import INSTALL

EXTRAS = ("glmnet", "pandas")
"""What the package itself does without."""


def main() -> None:
    try:
        from benchmarks.real.command import run
    except ModuleNotFoundError as missing:
        if missing.name not in EXTRAS:
            raise
        raise SystemExit(f"{missing.name} is not installed; {INSTALL}") from None
    run(__doc__)


if __name__ == "__main__":
    main()
