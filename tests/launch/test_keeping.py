"""When a job is lost, when it is only waited for, and when there is no hope."""

from __future__ import annotations

from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from backbone_dask.launch.keeping import FAILURES_A_JOB, GRACE, STEADY, Crew, Job, seen, without_lost

ONE, TWO = Job("job-0", "10"), Job("job-1", "11")
CREW = Crew(2, (ONE, TWO))
BOTH = {"job-0", "job-1"}
RUNNING = {"10": "running", "11": "running"}


def looked(crew, connected, times, start=0.0):
    return reduce(lambda now, look: seen(now, connected, start + look), range(times), crew)


def test_all_jobs_are_missing_at_first():
    assert Crew(3).missing == 3


def test_connected_jobs_are_kept_whatever_the_batch_system_says():
    crew, lost = without_lost(looked(CREW, BOTH, 1), BOTH, {}, 1000.0)
    assert lost == ()
    assert crew.missing == 0


def test_a_job_that_is_gone_is_replaced():
    crew, lost = without_lost(looked(CREW, BOTH, STEADY), {"job-1"}, {"11": "running"}, 5.0)
    assert [job.name for job in lost] == ["job-0"]
    assert crew.missing == 1
    assert crew.failures == 0


def test_pending_jobs_are_waited_for_for_ever():
    crew, lost = without_lost(CREW, set(), {"10": "pending", "11": "pending"}, 1e9)
    assert (crew, lost) == (CREW, ())


def test_a_requeued_job_is_waited_for():
    crew = looked(CREW, BOTH, 5)
    assert without_lost(crew, {"job-1"}, {"10": "pending", "11": "running"}, 1e9)[1] == ()


def test_a_running_job_without_a_worker_has_time_to_come_back():
    crew = looked(CREW, BOTH, 1)
    assert without_lost(crew, {"job-1"}, RUNNING, GRACE)[1] == ()
    assert [job.number for job in without_lost(crew, {"job-1"}, RUNNING, GRACE + 1)[1]] == ["10"]


def test_a_job_that_has_started_but_not_connected_is_waited_for():
    assert without_lost(CREW, set(), RUNNING, 1e9)[1] == ()


def test_without_an_answer_only_what_was_there_can_be_lost():
    crew = looked(CREW, {"job-0"}, 1)
    assert without_lost(crew, set(), None, GRACE)[1] == ()
    assert [job.name for job in without_lost(crew, set(), None, GRACE + 1)[1]] == ["job-0"]


def test_jobs_that_die_again_and_again_are_given_up():
    crew = Crew(2)
    for number in range(FAILURES_A_JOB):
        assert crew.missing == 2
        crew = crew.joined_by((Job(f"job-{2 * number}", "1"), Job(f"job-{2 * number + 1}", "2")))
        crew, _ = without_lost(crew, set(), {}, 0.0)
    assert crew.is_hopeless
    assert crew.missing == 0


def test_dying_soon_after_the_connection_counts_as_failing():
    crew, _ = without_lost(looked(CREW, BOTH, STEADY - 1), set(), {}, 9.0)
    assert crew.failures == 2


def test_one_job_that_works_makes_up_for_failures_but_only_once():
    crew = looked(CREW.after_failures(5), BOTH, STEADY)
    assert crew.failures == 0
    failed = crew.after_failures(3)
    # The jobs that work all along say nothing about the new ones.
    assert looked(failed, BOTH, 10).failures == 3


@given(
    st.lists(st.tuples(st.sets(st.sampled_from(sorted(BOTH))), st.sampled_from([None, {}, RUNNING])), max_size=30),
)
def test_never_more_jobs_than_were_asked_for(history):
    crew = CREW
    for now, (connected, queue) in enumerate(history):
        crew, lost = without_lost(seen(crew, connected, 100.0 * now), connected, queue, 100.0 * now)
        assert not {job.name for job in lost} & connected
        assert len(crew.jobs) + crew.missing <= crew.wanted
        crew = crew.joined_by(tuple(Job(f"job-{now}-{i}", "99") for i in range(crew.missing)))
