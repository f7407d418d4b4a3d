"""What is drafted: the way that earlier texts went on, as far as it is worth its time, in bounded memory."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest

from tests.support.about import TRAINING
from worker.engine.speculation.acceptance import DraftAcceptance, kind
from worker.engine.speculation.continuations import Continuations
from worker.engine.speculation.costs import StepCosts
from worker.engine.speculation.drafter import draft
from worker.engine.speculation.gate import LONGEST_REST, PLAIN_EVERY, Gate
from worker.engine.speculation.history import ANSWERS_KEPT, AnswerHistory
from worker.engine.speculation.library import MOST_EACH, TextLibrary
from worker.engine.speculation.speculator import LEAST_GAIN, MOST_RUNNING, Speculator
from worker.engine.types import SpeculationStats
from worker.loop.reporting.performance import speculation_metrics


def test_the_longest_run_says_how_a_text_goes_on() -> None:
    index = Continuations()
    index.add((), [1, 2, 3, 4, 5, 6, 70, 71])
    index.add((), [9, 9, 9, 4, 5, 6, 80, 81])
    index.add((), [9, 9, 8, 4, 5, 6, 80, 82])
    assert index.after((1, 2, 3, 4, 5, 6)) == (1, [70, 1, 1])
    assert index.after((0, 0, 0, 4, 5, 6)) == (2, [80, 2, 3])
    assert index.after((4, 5, 60)) is None
    found = draft((1, 2, 3, 4, 5, 6), index, DraftAcceptance(), most=8, least_expected=0.0)
    assert found is not None
    assert found.tokens == [70, 71]
    found = draft((1, 2, 3, 4, 5, 6), index, DraftAcceptance(), most=1, least_expected=0.0)
    assert found is not None and found.tokens == [70]
    assert draft((1, 2, 3, 4, 5, 6), index, DraftAcceptance(), most=8, least_expected=0.8) is None


def test_acceptance_is_measured_by_class_and_forgotten() -> None:
    acceptance, entry = DraftAcceptance(), [5, 3, 3]
    of = kind(0, entry)
    assert acceptance.share(of, entry) == 3.5 / 4
    for _ in range(300):
        acceptance.learn([of, of], 0)
    assert acceptance.share(of, entry) < 0.05
    for _ in range(512 * 60):
        acceptance.fade()
    assert acceptance.share(of, entry) > 0.8
    for _ in range(300):
        acceptance.learn([of, of], 1)
    assert 0.45 < acceptance.share(of, entry) < 0.55


def test_history_forgets_the_prompt_that_was_not_asked_for_longest() -> None:
    history = AnswerHistory(most_bytes=2000)
    for prompt in ((1,), (2,), (3,)):
        history.add(prompt, range(50))
    history.add((1,), range(50))
    history.add((4,), range(100))
    assert history.bytes <= 2000
    assert not history.latest((2,), 1000)
    assert [list(answer) for answer in history.latest((4,), 1000)] == [list(range(100))]
    assert [len(answer) for answer in history.latest((1,), 99)] == [50]
    history.add((5,), range(1000))  # more than there is room for
    assert (history.bytes, len(history._answers)) == (0, 0)
    history = AnswerHistory()
    for number in range(ANSWERS_KEPT + 5):
        history.add((1,), [number])
    assert [answer[0] for answer in history.latest((1,), 1000)] == list(range(5, ANSWERS_KEPT + 5))


def test_an_index_lives_as_long_as_an_answer_of_its_prompt() -> None:
    library, first, second = TextLibrary(), [5, 6, 7], [5]
    library.enter("a", (1, 2), first)
    library.enter("b", (1, 2), second)
    library.enter("b", (9, 9), [])  # known: nothing changes
    assert library.find("nobody") is None
    text, index = library.find("b") or ((), Continuations())
    assert text == (1, 2, 5)
    assert index.after(text) is None
    first += [8, 9]
    library.leave("a", ended=True)  # it was in no index, and had its end
    assert index.after(text) == (2, [6, 1, 1])
    library.leave("b", ended=False)
    assert not library._shelves and not library._indexed
    library.enter("c", (1, 2), [5])
    assert (library.find("c") or ((), index))[1].after((1, 2, 5)) == (2, [6, 1, 1])  # an earlier answer's


def test_an_answer_far_behind_is_taken_up_from_its_end() -> None:
    library = TextLibrary()
    library.enter("a", (1, 2), list(range(5000)))
    found = library.find("a")
    assert found is not None
    assert found[0] == tuple(range(4988, 5000))
    assert found[1].size == 2 + MOST_EACH
    assert found[1].after((4000, 4001, 4002)) is not None
    assert found[1].after((100, 101, 102)) is None


def test_costs_of_steps_are_lines() -> None:
    costs, rng = StepCosts(), random.Random(1)
    for _ in range(300):
        running = rng.randint(1, 40)
        costs.learn_plain(running, 4e-3 + 1e-4 * running)
    assert costs.known
    assert abs(costs.plain(16) - 5.6e-3) < 1e-4
    for _ in range(300):
        drafted = rng.randint(1, 30)
        costs.learn_drafted(16, drafted, 0, 5.6e-3 + 5e-4 + 5e-5 * drafted)
    assert abs(costs.added(10) - 1e-3) < 1e-4
    assert abs(costs.token - 5e-5) < 1e-5
    before = costs.plain(16)
    costs.learn_plain(16, 60.0)  # somebody else's work
    assert costs.plain(16) < 2 * before


def test_tries_in_vain_become_rare_and_losses_stop() -> None:
    gate, tries = Gate(), 0
    for _ in range(20_000):
        if gate.opens(100):
            tries += 1
            gate.tried_in_vain(100, 1e-3, 1e-2)  # a tenth of the step
    assert tries * 1e-3 < 0.012 * 20_000 * 1e-2
    assert gate.opens(1)  # classes of running sequences rest apart
    while not gate.opens(100):
        pass
    gate.tried_in_vain(100, 1.0, 1e-2)
    assert gate._rest[(100).bit_length()] == LONGEST_REST
    lost = 0
    while gate.opens(1):
        gate.drafted(1, -4e-3, 4e-3)
        lost += 1
    assert lost <= 4
    gate, row = Gate(), 0
    while gate.opens(1):
        gate.drafted(1, 1e-3, 4e-3)
        row += 1
    assert row == PLAIN_EVERY
    assert gate.opens(1)


def simulate(accepted: float, token_s: float, running: int = 8, steps: int = 1500) -> tuple[float, Speculator]:
    """Speed against an engine without drafts, where a drafted token comes with the given probability."""
    rng, speculator = random.Random(4), Speculator()
    text = [rng.randrange(50) for _ in range(400)]
    answers = {f"r{n}": text[: 5 * n + 5] for n in range(running)}
    speculator.enter("sibling", (1, 2, 3), text)
    speculator.leave("sibling", ended=True)
    for name, tokens in answers.items():
        speculator.enter(name, (1, 2, 3), tokens)
    spent = made = 0.0
    for _ in range(steps):
        unlimited = {"max_tokens": 10**6, "_output_token_ids": [], "_all_token_ids": []}
        requests = [SimpleNamespace(request_id=name, **unlimited) for name in answers]
        drafts = speculator.propose(requests, most_tokens=512, max_model_len=10**6)
        came = {name: 1 for name in answers}
        for name, tokens in drafts.items():
            while came[name] <= len(tokens) and rng.random() < accepted:
                came[name] += 1
        seconds = 4e-3 + 1e-4 * running + (3e-4 if drafts else 0.0) + token_s * sum(map(len, drafts.values()))
        speculator.observe(seconds, came if drafts else {})
        for name, tokens in answers.items():
            at = len(tokens)
            tokens += [text[(at + n) % 400] for n in range(came[name])]
        spent, made = spent + seconds, made + sum(came.values())
    return made / (steps * running) * steps * (4e-3 + 1e-4 * running) / spent, speculator


@pytest.mark.expensive(2, "builds an engine", about=TRAINING)
def test_drafts_are_made_where_they_gain_and_only_there() -> None:
    gained, speculator = simulate(0.95, 5e-5)
    assert gained > 2
    assert speculator.stats.drafted_steps > 1000
    lost, speculator = simulate(0.02, 5e-5)  # texts look alike, and nothing comes as before
    assert lost > 0.97
    assert speculator.stats.drafted_steps < 150
    dear, _ = simulate(0.6, 4e-3)  # a token costs as much as a step
    assert dear > 0.97
    assert LEAST_GAIN > 1


def test_many_running_sequences_cost_one_comparison() -> None:
    speculator = Speculator()
    for _ in range(20):
        speculator.propose([SimpleNamespace(request_id="r")] * (MOST_RUNNING + 1), most_tokens=9, max_model_len=9)
        speculator.observe(1e-3, {})
    assert not speculator._costs.known
    assert speculator.stats == SpeculationStats(steps=20)


def test_metrics_are_differences_of_totals() -> None:
    before = SpeculationStats(drafted=10, accepted=5, drafts=4, drafted_steps=3, steps=10)
    now = SpeculationStats(drafted=30, accepted=20, drafts=14, drafted_steps=8, steps=20)
    assert speculation_metrics([(before, now), (SpeculationStats(), SpeculationStats(steps=10))]) == {
        "speculation/drafted_tokens": 20.0,
        "speculation/accepted_tokens": 15.0,
        "speculation/accepted_share": 0.75,
        "speculation/tokens_per_draft": 2.5,
        "speculation/step_share": 0.25,
    }
    assert speculation_metrics([]) == {}
    assert speculation_metrics([(now, now)]) == {
        "speculation/drafted_tokens": 0.0,
        "speculation/accepted_tokens": 0.0,
    }
