"""The repetition watch against plain definitions, on random completions that love to repeat themselves."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.about import TRAINING
from worker.engine import NgramLoop, ProbabilityRun, Sampling
from worker.engine.request.repetition import LoopWatch, RepetitionWatch


def loops(tokens: list[int], loop: NgramLoop) -> bool:
    """Whether the last size x repeats tokens have a period of at most size. By definition."""
    window = loop.size * loop.repeats
    tail = tokens[-window:]
    return len(tokens) >= window and any(tail[p:] == tail[:-p] for p in range(1, loop.size + 1))


def first_stop(tokens: list[int], loop: NgramLoop, cut: int | None = None) -> int | None:
    """Length at which the watch stops; built anew from the first `cut` tokens where one is given."""
    watch = LoopWatch(loop, tokens[: cut or 0])
    for end in range((cut or 0) + 1, len(tokens) + 1):
        if watch.feed(tokens[:end]):
            return end
    return None


@st.composite
def completions(draw: st.DrawFn) -> list[int]:
    """Pieces over a small alphabet, each repeated a few times."""
    pieces = draw(
        st.lists(
            st.tuples(st.lists(st.integers(0, 2), min_size=1, max_size=7), st.integers(1, 9)), min_size=1, max_size=6
        )
    )
    return [token for piece, times in pieces for token in piece * times]


@pytest.mark.expensive(3, "builds an engine", about=TRAINING)
@settings(max_examples=600, deadline=None)
@given(completions(), st.integers(1, 7), st.integers(3, 5), st.integers(0, 40))
def test_loop_is_noticed_at_the_first_token_that_completes_it(
    tokens: list[int], size: int, repeats: int, cut: int
) -> None:
    loop = NgramLoop(size, repeats)
    expected = next((end for end in range(1, len(tokens) + 1) if loops(tokens[:end], loop)), None)
    assert first_stop(tokens, loop) == expected
    if cut < (expected or len(tokens)):
        assert first_stop(tokens, loop, cut) == expected


def test_few_equal_tokens_are_no_loop() -> None:
    loop = NgramLoop(size=4, repeats=3)
    assert first_stop([7] * 11, loop) is None
    assert first_stop([7] * 12, loop) == 12
    assert first_stop([1, 2, 3, 4] * 3, loop) == 12
    assert first_stop([1, 2, 3, 4, 5] * 9, loop) is None


CERTAIN, LIKELY = math.log(0.995), math.log(0.99)


def fed(watch: RepetitionWatch, logprobs: list[float]) -> list[bool]:
    tokens: list[int] = []
    answers = []
    for logprob in logprobs:
        tokens.append(len(tokens))
        answers.append(watch.feed(tokens, logprob))
    return answers


def test_run_counts_tokens_above_the_probability_and_starts_again_below() -> None:
    sampling = Sampling(1.0, probability_run=ProbabilityRun(tokens=3))
    watch = RepetitionWatch(sampling, [], [], [])
    assert fed(watch, [CERTAIN, CERTAIN, LIKELY, CERTAIN, CERTAIN, CERTAIN]) == [False] * 5 + [True]


def test_run_goes_on_across_a_cut_but_not_across_forced_tokens() -> None:
    sampling = Sampling(1.0, probability_run=ProbabilityRun(tokens=3))
    watch = RepetitionWatch(sampling, [1, 2, 3], [0.0, CERTAIN, CERTAIN], [False, True, True])
    assert fed(watch, [CERTAIN]) == [True]
    watch = RepetitionWatch(sampling, [1, 2, 3], [CERTAIN, CERTAIN, 0.0], [True, True, False])
    assert fed(watch, [CERTAIN, CERTAIN, CERTAIN]) == [False, False, True]
    watch = RepetitionWatch(sampling, [1, 2], [CERTAIN, CERTAIN], [True, True])
    watch.interrupt([1, 2, 3], 1)
    assert fed(watch, [CERTAIN, CERTAIN]) == [False, False]


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: ProbabilityRun(tokens=0), "tokens of a probability run"),
        (lambda: ProbabilityRun(probability=1.0), "probability of a run"),
        (lambda: NgramLoop(0, 3), "size of an n-gram loop"),
        (lambda: NgramLoop(4, 2), "repeats of an n-gram loop"),
    ],
)
def test_impossible_stops_are_refused(build: object, sentence: str) -> None:
    assert callable(build)
    with pytest.raises(ValueError, match=sentence):
        build()
