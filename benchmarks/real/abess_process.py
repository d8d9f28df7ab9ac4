"""One fit of abess (GPL-3), run by the interpreter that has it: `python abess_process.py QUESTION.npz ANSWER.npz`."""

import sys
import time

import numpy as np
from scipy import sparse

MODELS = {"numbers": "LinearRegression", "two": "LogisticRegression", "several": "MultinomialRegression"}


def matrix(given, name):
    """Dense, or sparse in parts."""
    if name in given:
        return given[name]
    parts = tuple(given[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    return sparse.csc_matrix(parts, shape=given[f"{name}_shape"])


def main(question: str, answer: str) -> None:
    import abess

    given = np.load(question)
    X, X_new = matrix(given, "X"), matrix(given, "X_new")
    always = list(range(int(given["n_always"])))
    sizes = given["sizes"] + len(always)
    folds = np.random.default_rng(0).permutation(X.shape[0]) % 5 + 1
    chooser = {"cv": 5, "cv_score": "test_loss"} if bool(given["cv"]) else {"ic_type": "ebic"}
    model = getattr(abess, MODELS[str(given["kind"])])(
        support_size=sizes,
        always_select=always or None,
        screening_size=int(given["screened"]),
        thread=1,
        alpha=given["ridges"].tolist(),
        **chooser,
        path_type="seq",
    )
    began = time.process_time()
    model.fit(X, given["y"], **({"cv_fold_id": folds} if bool(given["cv"]) else {}))
    seconds = time.process_time() - began
    used = np.asarray(model.coef_).reshape(X.shape[1], -1).any(axis=1)
    odds = X_new @ model.coef_ + model.intercept_
    np.savez(answer, odds=odds, n_features=used[len(always) :].sum(), seconds=seconds)


if __name__ == "__main__":
    main(*sys.argv[1:])
