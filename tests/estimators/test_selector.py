from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from backbone_dask import BackboneRegressor, BackboneSelector


@parametrize_with_checks([BackboneSelector(BackboneRegressor(1))])
def test_scikit_learn_contract(estimator, check):
    check(estimator)
