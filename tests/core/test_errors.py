from __future__ import annotations

import inspect
import pickle

import pytest
import tblib.pickling_support

from backbone_dask import errors

# What distributed does in every process: it changes how exceptions are pickled.
tblib.pickling_support.install()
TREE = [each for _, each in inspect.getmembers(errors, inspect.isclass)]


@pytest.mark.parametrize("error", TREE)
def test_every_error_is_in_the_tree_and_says_when_it_is_raised(error: type[Exception]) -> None:
    assert issubclass(error, errors.BackboneError)
    assert error.__doc__


@pytest.mark.parametrize("error", [each for each in TREE if each is not errors.BackboneError])
def test_every_error_has_a_builtin_parent(error: type[Exception]) -> None:
    parents = [each for each in error.__mro__ if each.__module__ == "builtins"]
    assert parents[0] not in (Exception, BaseException, object)


@pytest.mark.parametrize("error", TREE)
def test_the_sentence_survives_the_way_back_from_a_worker(error: type[Exception]) -> None:
    sentence = "no screen is called 'x'"
    assert str(error(sentence)) == sentence
    assert str(pickle.loads(pickle.dumps(error(sentence)))) == sentence
