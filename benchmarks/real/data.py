"""The real tables, from a folder that the user names: samples x features, an answer for each sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from backbone_dask import ingest, open_store
from backbone_dask.runtime.executor import SerialExecutor
from backbone_dask.values import FeatureBlock

NUMBERS, CLASSES = "numbers", "classes"
MISSING_GENOTYPE = -128
EXPRESSION_RANGE = (20.0, 16_000.0)
GENOTYPES = "hapmap3/HM3_thinned_autosomal_overlap"
BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
STUDIES = {
    "riboflavin": ["riboflavin"],
    "microarray": ["alon", "golub", "singh"],
    "mice": ["mice-length", "mice-bmi"],
    "hapmap": ["hapmap"],
    "text": ["text"],
    "mice-pairs": ["mice-pairs-length", "mice-pairs-bmi"],
}
"""The data sets of each study."""
FILES = {
    "riboflavin": ["riboflavin/riboflavin.npz"],
    **{name: [f"microarray/{name}.npz"] for name in STUDIES["microarray"]},
    **{name: ["mice/mice_X_int8.npz", "mice/mice_pheno.csv"] for name in STUDIES["mice"] + STUDIES["mice-pairs"]},
    "hapmap": ["hapmap3/relationships_w_pops_121708.txt", *(f"{GENOTYPES}.{end}" for end in ("bed", "bim", "fam"))],
    "text": ["text/rt-polarity.neg", "text/rt-polarity.pos"],
}
"""What each data set is read from."""


@dataclass(frozen=True)
class Data:
    """A table (samples, features), dense or sparse; covariates stay in every model, samples that go together are held
    out together."""

    name: str
    task: str
    X: Any
    y: NDArray[Any]
    covariates: NDArray[np.float64] | None = None
    together: NDArray[Any] | None = None


class MissingDataError(FileNotFoundError):
    """A file that a data set is read from is not there."""


def study_of(name: str) -> str:
    """The study that a data set belongs to; one that is in none is a study by itself."""
    return next((study for study, names in STUDIES.items() if name in names), name)


def present(folder: Path, name: str) -> list[Path]:
    """The paths of the files of a data set, or one sentence about what is missing."""
    for file in FILES[name]:
        if not (folder / file).is_file():
            raise MissingDataError(f"{folder / file} does not exist; name the folder that holds {file} with --data")
    return [folder / file for file in FILES[name]]


def riboflavin(folder: Path, scratch: Path) -> Data:
    (table,) = present(folder, "riboflavin")
    with np.load(table) as content:
        return Data("riboflavin", NUMBERS, content["X"].astype(np.float64), content["y"])


def microarray(name: str) -> Callable[[Path, Path], Data]:
    """Intensities between the usual floor and ceiling, as logarithms; each value by itself, so that no fold leaks."""

    def load(folder: Path, scratch: Path) -> Data:
        (table,) = present(folder, name)
        with np.load(table) as content:
            X = np.log2(np.clip(content["X"].astype(np.float64), *EXPRESSION_RANGE))
            return Data(name, CLASSES, X, content["y"])

    return load


def mice(name: str, phenotype: str) -> Callable[[Path, Path], Data]:
    """Genotypes; sex, how full the cage is, litter, season and year are covariates; whole cages are held out."""

    def load(folder: Path, scratch: Path) -> Data:
        genotypes, phenotypes = present(folder, name)
        known = pd.read_csv(phenotypes)
        with np.load(genotypes) as content:
            X = content["X"]
        y = known[phenotype].to_numpy(np.float64)
        return Data(name, NUMBERS, X, y, _mouse_covariates(known), known["cage"].to_numpy())

    return load


def _mouse_covariates(known: pd.DataFrame) -> NDArray[np.float64]:
    words = pd.get_dummies(known[["GENDER", "Obesity.Date.Season"]], drop_first=True)
    numbers = known[["CageDensity", "Litter", "Obesity.Date.Year"]]
    return np.asarray(pd.concat([words, numbers], axis=1), np.float64)


def hapmap(folder: Path, scratch: Path) -> Data:
    """Genotypes as our ingest reads them from PLINK, unknown ones NaN; the population of each sample."""
    populations, source, *_ = present(folder, "hapmap")
    people = pd.read_csv(populations, sep="\t").set_index("IID")["population"]
    ingest(source, scratch / "hapmap.zarr", executor=SerialExecutor(), overwrite=True)
    store = open_store(scratch / "hapmap.zarr")
    calls = store.raw(FeatureBlock(0, 0, store.n_features)).T
    X = np.where(calls == MISSING_GENOTYPE, np.nan, calls).astype(np.float32)
    return Data("hapmap", CLASSES, X, people.loc[list(store.sample_ids or ())].to_numpy(str))


def text(folder: Path, scratch: Path) -> Data:
    """Counts of all character 2-7-grams, sparse; kept in `scratch`, for they take a while."""
    bad, good = map(_lines, present(folder, "text"))
    y = np.repeat(["negative", "positive"], [len(bad), len(good)])
    kept = scratch / "grams.npz"
    if not kept.exists():
        with TemporaryDirectory(dir=scratch) as unfinished:
            sparse.save_npz(Path(unfinished, kept.name), grams(bad + good))
            Path(unfinished, kept.name).replace(kept)
    return Data("text", CLASSES, sparse.load_npz(kept), y)


def _lines(path: Path) -> list[str]:
    """Only a line feed ends a line: some other ends that Python knows are letters here."""
    return path.read_text("latin-1").rstrip("\n").split("\n")


def grams(lines: list[str]) -> Any:
    """How often each gram occurs; counts up to 127, so that a byte holds each."""
    counts = CountVectorizer(analyzer="char", ngram_range=(2, 7), dtype=np.int32).fit_transform(lines)
    counts.data = np.minimum(counts.data, 127).astype(np.int8)
    return counts.tocsc()


LOADERS: dict[str, Callable[[Path, Path], Data]] = {
    "riboflavin": riboflavin,
    "alon": microarray("alon"),
    "golub": microarray("golub"),
    "singh": microarray("singh"),
    "mice-length": mice("mice-length", "Obesity.BodyLength"),
    "mice-bmi": mice("mice-bmi", "Obesity.BMI"),
    "mice-pairs-length": mice("mice-pairs-length", "Obesity.BodyLength"),
    "mice-pairs-bmi": mice("mice-pairs-bmi", "Obesity.BMI"),
    "hapmap": hapmap,
    "text": text,
}
