"""Which worker holds what: balance, wishes, and nothing but names and sizes decide."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backbone_dask.runtime.placement import Placement, assign, in_runs, in_turns, place
from backbone_dask.values import Seat, Shard

SEATS = tuple(Seat(name, frozenset({f"host-{name}"})) for name in "abc")
sizes = st.lists(st.integers(1, 50), min_size=1, max_size=60)
wishes = st.dictionaries(st.sampled_from("abcz"), st.floats(0, 9), max_size=4)


def loads(parts, homes, seats):
    return {seat.name: sum(p for p, home in zip(parts, homes, strict=True) if home == seat.name) for seat in seats}


def test_equal_parts_take_turns():
    assert assign([5] * 7, [{}] * 7, SEATS) == tuple("abcabca")


@given(sizes, st.data())
def test_no_worker_has_more_than_its_fair_share_and_one_part(parts, data):
    asked = [data.draw(wishes) for _ in parts]
    homes = assign(parts, asked, SEATS)
    fair = sum(parts) / len(SEATS)
    assert max(loads(parts, homes, SEATS).values()) < fair + max(parts)


@given(sizes, st.data())
def test_a_part_is_away_from_its_best_worker_only_if_that_one_had_its_share(parts, data):
    asked = [data.draw(wishes) for _ in parts]
    homes = assign(parts, asked, SEATS)
    load = loads(parts, homes, SEATS)
    for size, wish, home in zip(parts, asked, homes, strict=True):
        known = {name: amount for name, amount in wish.items() if name in load and amount > 0}
        best = [name for name, amount in known.items() if amount == max(known.values())]
        if known and home not in best:
            assert all(load[name] >= sum(parts) / len(SEATS) for name in best), (size, wish, home)


@given(sizes)
def test_without_wishes_it_is_the_greedy_rule(parts):
    """The rule as one would write it down: each to the one with the least, ties to the first."""
    total, expected = dict.fromkeys("abc", 0), []
    for size in parts:
        expected.append(min(total, key=lambda name: total[name]))
        total[expected[-1]] += size
    assert list(assign(parts, [{}] * len(parts), SEATS)) == expected


def test_a_worker_with_more_threads_holds_more():
    seats = (Seat("big", threads=3), Seat("small"))
    assert assign([1] * 8, [{}] * 8, seats).count("big") == 6


def test_a_table_is_placed_where_it_lies():
    shards = [Shard(0, 500, "host-b"), Shard(500, 1000, "host-a")]
    placement = place(1000, 50, SEATS[:2], shards)
    assert placement.homes == ("b",) * 10 + ("a",) * 10
    assert place(1000, 50, SEATS[:2], [Shard(0, 500, "b")]).homes[:10] == ("b",) * 10


def test_a_shard_of_a_host_without_workers_is_no_wish():
    assert place(300, 100, SEATS, [Shard(0, 300, "elsewhere")]).homes == tuple("abc")


@given(sizes, st.lists(st.integers(1, 4), min_size=1, max_size=5))
def test_neighbours_stay_together_and_workers_have_their_share(parts, threads):
    seats = [Seat(f"{at}", threads=count) for at, count in enumerate(threads)]
    homes = in_runs(parts, seats)
    assert homes == sorted(homes, key=int)
    for seat, load in zip(seats, loads(parts, homes, seats).values(), strict=True):
        assert abs(load - sum(parts) * seat.threads / sum(threads)) <= max(parts)


def test_a_table_without_hints_is_placed_in_runs():
    assert "".join(place(1000, 100, SEATS).homes) == "aaabbbbccc"


def test_a_hint_comes_before_the_neighbours():
    assert "".join(place(800, 100, SEATS[:2], [Shard(0, 300, "host-b")]).homes) == "bbbabaaa"


def test_one_host_with_everything_does_not_get_everything():
    placement = place(800, 100, SEATS[:2], [Shard(0, 800, "host-a")])
    assert sorted(placement.homes) == ["a"] * 4 + ["b"] * 4


def test_the_same_names_give_the_same_placement_whatever_their_hosts():
    moved = tuple(Seat(seat.name, frozenset({"another"})) for seat in SEATS)
    assert place(10**6, 777, SEATS).homes == place(10**6, 777, moved).homes


def test_a_span_ends_where_the_worker_changes():
    placement = place(70, 10, SEATS[:2], [Shard(0, 10, "a"), Shard(10, 20, "b"), Shard(20, 40, "a")])
    assert "".join(placement.homes) == "abaabbb"
    assert placement.runs(0, 70, longest=30) == [(0, 10), (10, 20), (20, 40), (40, 70)]
    assert placement.runs(20, 65, longest=20) == [(20, 40), (40, 60), (60, 65)]
    assert placement.runs(0, 5, longest=30) == [(0, 5)]


@given(st.integers(1, 400), st.integers(1, 60), st.integers(1, 90), st.data())
def test_runs_cover_every_feature_once_with_one_worker_each(p, unit, longest, data):
    owners = data.draw(st.lists(st.sampled_from("abc"), min_size=-(-p // unit), max_size=-(-p // unit)))
    placement = Placement(SEATS, unit, tuple(owners))
    runs = placement.runs(0, p, longest=longest)
    assert [j for start, stop in runs for j in range(start, stop)] == list(range(p))
    for start, stop in runs:
        assert {placement.home(j) for j in range(start, stop)} == {placement.home(start)}
        assert stop - start < longest + unit


def test_wishes_of_ids_count_them_by_home():
    placement = place(40, 10, SEATS[:2])
    assert placement.homes == ("a", "a", "b", "b")
    assert placement.wishes(np.array([0, 9, 10, 25, 39])) == {"a": 3.0, "b": 2.0}


@pytest.mark.parametrize(("owners", "expected"), [("aaabbb", [0, 3, 1, 4, 2, 5]), ("abab", [0, 1, 2, 3]), ("", [])])
def test_owners_take_turns(owners, expected):
    assert in_turns(list(range(len(owners))), list(owners)) == expected


def test_thousands_of_parts_and_hundreds_of_workers_take_no_time():
    seats = [Seat(f"w{at}") for at in range(512)]
    homes = assign([1] * 8000, [{}] * 8000, seats)
    counts = np.unique(homes, return_counts=True)[1]
    assert (counts.min(), counts.max()) == (15, 16)
