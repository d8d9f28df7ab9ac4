from __future__ import annotations

from sklearn.linear_model import Lasso, LinearRegression
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from backbone_dask import Backbone


@parametrize_with_checks(
    [
        Backbone(Lasso(alpha=0.01), LinearRegression()),
        Backbone(DecisionTreeClassifier(max_depth=3), DecisionTreeClassifier()),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
