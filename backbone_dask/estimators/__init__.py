"""The scikit-learn face."""

from backbone_dask.estimators.regressor import BackboneRegressor

__all__ = ["BackboneRegressor"]
