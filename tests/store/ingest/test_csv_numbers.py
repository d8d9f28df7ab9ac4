"""Numbers in text have the bits that Python's float gives them."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from backbone_dask.store.ingest.decimals import HARD, MISSING, NUMBER, is_missing, python_number, read_number


def read(text):
    return read_number(np.frombuffer(text.encode(), np.uint8), 0, len(text))


def bits(value):
    return struct.pack("d", value)


def assert_exact(text):
    value, end, kind = read(text)
    assert kind in (NUMBER, HARD)
    if kind == NUMBER:
        assert end == len(text)
        assert bits(value) == bits(float(text))
    assert bits(python_number(text)) == bits(float(text))


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(5.032231560248793e264)
def test_what_python_prints_is_read_back(value):
    assert_exact(repr(value))


def test_hardly_any_number_is_hard():
    """A hard one is read by Python's float, which is right and slow."""
    values = np.random.default_rng(0).normal(size=20_000)
    assert sum(read(repr(value))[2] != NUMBER for value in values.tolist()) < 20


@given(st.floats(-1e200, 1e200).filter(lambda value: value == 0 or abs(value) > 1e-200), st.integers(0, 30))
def test_any_number_of_digits(value, digits):
    assert_exact(f"{value:.{digits}e}")
    assert_exact(f"{value:+.{digits}E}")


@given(st.integers(0, 10**25), st.integers(-330, 330), st.sampled_from(["", "-", "+"]), st.integers(0, 30))
def test_any_mantissa_and_exponent(digits, power, sign, zeros):
    assert_exact(f"{sign}{'0' * zeros}{digits}e{power}")
    assert_exact(f"{sign}{digits}.{'0' * zeros}{digits}e{power}")


@given(st.integers(1 << 52, (1 << 53) - 1), st.integers(0, 900), st.sampled_from([-1, 0, 1]))
def test_halfway_between_two_floats(mantissa, shift, nudge):
    """The number that lies exactly between two floats, and its neighbours one digit away."""
    assert_exact(str((2 * mantissa + 1 << shift) + nudge))
    assert_exact(f"{2 * mantissa + 1}.{'0' * 20}{max(nudge, 0)}e0")


def test_most_numbers_need_no_python():
    texts = [repr(value) for value in np.random.default_rng(0).normal(size=2000).tolist()]
    assert all(read(text)[2] == NUMBER for text in texts)


@pytest.mark.parametrize("text", ["", "-", ".", "+.", "e5", "x", "1e", "1e+", "--1", "nan"])
def test_what_does_not_begin_as_a_number_is_left_to_python(text):
    assert read(text)[1:] == (0, HARD)


@pytest.mark.parametrize(("text", "end"), [("1.5.2", 3), ("12abc", 2), ("1_000", 1), ("0x10", 1), ("1 2", 1)])
def test_a_number_ends_where_it_ends(text, end):
    assert read(text)[1] == end
    assert python_number(text) is None


@pytest.mark.parametrize("text", ["", "NA", "na", "N/A", "n/a", "NaN", "nan", "null", "NULL", "none", "None", "?", "."])
def test_missing(text):
    assert is_missing(np.frombuffer(text.encode(), np.uint8), 0, len(text))
    assert np.isnan(python_number(text))


@given(st.text(st.sampled_from("nNaA/uUlLoOeE?.0x"), min_size=1, max_size=5))
def test_both_readers_agree_about_what_is_missing(text):
    found = python_number(text)
    assert is_missing(np.frombuffer(text.encode(), np.uint8), 0, len(text)) == (found is not None and found != found)


def test_kinds_differ():
    assert len({NUMBER, MISSING, HARD}) == 3
    assert python_number("-inf") == -np.inf
    assert python_number("٣") is None
