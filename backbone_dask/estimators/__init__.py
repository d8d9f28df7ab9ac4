"""Estimators with the scikit-learn contract."""

from backbone_dask.estimators.backbone import Backbone
from backbone_dask.estimators.classifier import BackboneClassifier
from backbone_dask.estimators.regressor import BackboneRegressor
from backbone_dask.estimators.selector import BackboneSelector
from backbone_dask.estimators.tree import BackboneTreeClassifier

__all__ = ["Backbone", "BackboneClassifier", "BackboneRegressor", "BackboneSelector", "BackboneTreeClassifier"]
