"""Estimators with the scikit-learn contract."""

from backbone_dask.estimators.classifier import BackboneClassifier
from backbone_dask.estimators.regressor import BackboneRegressor

__all__ = ["BackboneClassifier", "BackboneRegressor"]
