"""One fit of abess (GPL-3), run by the interpreter that has it: `python abess_process.py QUESTION.npz ANSWER.npz`."""

import sys
import time

import numpy as np
from abess import LinearRegression, LogisticRegression, MultinomialRegression

MODELS = {"numbers": LinearRegression, "two": LogisticRegression, "several": MultinomialRegression}


def main(question: str, answer: str) -> None:
    given = np.load(question)
    always = list(range(int(given["n_always"])))
    sizes = given["sizes"] + len(always)
    folds = np.random.default_rng(0).permutation(given["y"].size) % 5 + 1
    chooser = {"cv": 5, "cv_score": "test_loss"} if bool(given["cv"]) else {"ic_type": "ebic"}
    model = MODELS[str(given["kind"])](
        support_size=sizes, always_select=always or None, thread=1, **chooser, path_type="seq"
    )
    began = time.process_time()
    model.fit(given["X"], given["y"], **({"cv_fold_id": folds} if bool(given["cv"]) else {}))
    seconds = time.process_time() - began
    used = np.asarray(model.coef_).reshape(given["X"].shape[1], -1).any(axis=1)
    odds = given["X_new"] @ model.coef_ + model.intercept_
    np.savez(answer, odds=odds, n_features=used[len(always) :].sum(), seconds=seconds)


if __name__ == "__main__":
    main(*sys.argv[1:])
