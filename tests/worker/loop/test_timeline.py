"""Spans of a step, joined where they touch and never more than the console draws."""

import time

import pytest

from worker.rollout.timeline import MAX_SPANS, Timeline


def test_touching_spans_are_one_and_lanes_stay_apart() -> None:
    timeline = Timeline()
    timeline.resume(100.0)
    now = time.time()
    timeline.add("learner", "learn", now + 3.0, now + 4.0)
    timeline.add("engine-0", "generate", now + 1.0, now + 2.0)
    timeline.add("engine-0", "generate", now + 2.0, now + 3.0)
    timeline.add("engine-0", "update", now + 3.0, now + 3.5)
    told = timeline.drain()
    assert [(s.lane, s.phase, round(s.end - s.start, 2)) for s in told] == [
        ("engine-0", "generate", 2.0),
        ("engine-0", "update", 0.5),
        ("learner", "learn", 1.0),
    ]
    assert told[0].start == pytest.approx(101.0, abs=0.5), "counted from the run's start, not the attempt's"
    assert timeline.drain() == []


def test_too_many_spans_are_joined_over_the_smallest_gaps() -> None:
    timeline = Timeline()
    now = time.time()
    for index in range(100):
        gap = 1.0 if index >= 90 else 0.01
        timeline.add("reward", "reward", now + index * gap, now + index * gap + 0.005)
    told = timeline.drain()
    assert len(told) <= MAX_SPANS
    assert (told[0].start, told[-1].end) == (pytest.approx(0.0, abs=0.1), pytest.approx(99.0, abs=0.1))
