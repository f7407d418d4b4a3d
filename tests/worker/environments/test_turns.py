"""Episodes of several turns on a real engine: answers are context, and what the policy says is kept as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from threading import Event
from typing import Any

import numpy as np
import pytest

from tests.support.about import SAMPLING
from tests.support.installation import wait_until
from tests.worker.loop.conftest import POLICY
from trainer_core.episodes import Group, Trajectory, Turn, spans
from trainer_core.spec.generation.environment import PythonEnvironment
from worker.engine import EngineConfig, Sampling
from worker.engine.tokenizer import PolicyTokenizer
from worker.environments.host import EnvironmentHost, Reply
from worker.messages.chunk import Chunk, unpack
from worker.messages.episode import Dialogue, EpisodeTask
from worker.messages.jobs import GroupJob, Parked, Submission
from worker.rollout.worker import RolloutWorker

ABOUT = (*SAMPLING, "worker/environments", "worker/sandbox")
pytestmark = [pytest.mark.live, pytest.mark.expensive(20, "starts an engine and a jail", about=ABOUT)]
ROW = {"prompt": "12+7=", "answer": "19"}
TWO_TURNS = """
def respond(item, messages):
    assert item["answer"] == "19" and messages[0] == {"role": "user", "content": "12+7="}
    assert [m["role"] for m in messages[1:]] == ["assistant", "user"] * ((len(messages) - 2) // 2) + ["assistant"]
    return "3+4="
"""


@pytest.fixture(scope="module")
def worker() -> Iterator[RolloutWorker]:
    found = RolloutWorker()
    found.start(EngineConfig(model_dir=str(POLICY), max_model_len=96, max_num_seqs=16, kv_cache_gib=0.01))
    yield found
    if found._environments is not None:
        found._environments.close()


@pytest.fixture(scope="module")
def tokenizer() -> PolicyTokenizer:
    return PolicyTokenizer(POLICY)


@pytest.fixture
def job(tokenizer: PolicyTokenizer) -> Callable[..., GroupJob]:
    def make(
        source: str, samples: int = 2, max_tokens: int = 60, parked: Parked | None = None, **more: Any
    ) -> GroupJob:
        [prompt] = tokenizer.encode_rows([ROW])
        task = EpisodeTask(PythonEnvironment(source=source, **more), ROW)
        return GroupJob("g", prompt, samples, Sampling(0.0, max_tokens=max_tokens), parked, episode=task)

    return make


def run(worker: RolloutWorker, job: GroupJob) -> tuple[list[Trajectory], Chunk]:
    """The trajectories of a group, as the loop gets them."""
    worker.submit(Submission((job,), seed=0, alone=True, flush=1))
    found = worker.collect(90.0)
    assert found.chunk is not None
    group = Group("g", "a:0", "a", "a@1", dict(ROW), "", 0)
    unpack(found.chunk, [group], [[job.prompt] * job.samples], [1.0])
    return group.trajectories, found.chunk


def test_the_environment_speaks_between_the_policys_turns(
    worker: RolloutWorker, job: Callable[..., GroupJob], tokenizer: PolicyTokenizer
) -> None:
    trajectories, chunk = run(worker, job(TWO_TURNS, max_turns=2))
    for trajectory, dialogue in zip(trajectories, chunk.dialogues, strict=True):
        first, second, third = spans(trajectory.turns, trajectory.length)
        assert [author for author, _, _ in (first, second, third)] == ["policy", "user", "policy"]
        texts = tokenizer.decode([trajectory.token_ids[a:b] for _, a, b in (first, second, third)], [1])
        assert (texts[0][-10:], texts[1], texts[2][:7]) == ("</think>19", "3+4=", "<think>")
        assert trajectory.sampled.tolist() == [*[True] * first[2], *[False] * 4, *[True] * (third[2] - third[1])]
        assert (trajectory.behaviour_logprobs[second[1] : second[2]] == 0).all()
        assert [message["content"] for message in dialogue.messages] == texts
        assert (trajectory.finish_reason, dialogue.fault) == ("stop", None)


def test_each_turn_is_what_the_policy_says_after_all_before(
    worker: RolloutWorker, job: Callable[..., GroupJob], tokenizer: PolicyTokenizer
) -> None:
    """The last turn of an episode equals a single completion of the whole context."""
    [whole, _], _ = run(worker, job(TWO_TURNS, max_turns=3))
    start = spans(whole.turns, whole.length)[-1][1]
    context = np.concatenate([whole.prompt_ids, whole.token_ids[:start]])
    alone = GroupJob("one", context, 1, Sampling(0.0, max_tokens=60 - start))
    worker.submit(Submission((alone,), seed=0, alone=True, flush=1))
    found = worker.collect(60.0).chunk
    assert found is not None and found.token_ids()[0].tolist() == whole.token_ids[start:].tolist()
    np.testing.assert_allclose(
        found.columns["behaviour_logprobs"].arrays()[0], whole.behaviour_logprobs[start:], atol=1e-4
    )


def test_none_ends_the_episode(worker: RolloutWorker, job: Callable[..., GroupJob]) -> None:
    [one, _], chunk = run(worker, job("def respond(item, messages):\n    return None"))
    assert one.turns == (Turn("policy", 0),) and one.sampled.all() and chunk.dialogues[0].fault is None


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("def respond(item, messages):\n    raise ValueError('no such door')", "no such door"),
        ("def respond(item, messages):\n    return 7", "something else than text"),
        ("def respond(item, messages):\n    return {'role': 'system', 'content': 'x'}", "not tool or user"),
        ("def respond(item, messages):\n    while True: pass", "took longer"),
        ("def answer(item, messages):\n    return None", "respond"),
    ],
    ids=["raises", "a number", "a role", "endless", "no function"],
)
def test_a_fault_ends_the_episode_with_a_reason(
    worker: RolloutWorker, job: Callable[..., GroupJob], source: str, says: str
) -> None:
    [one, _], chunk = run(worker, job(source, timeout_s=1.0))
    assert [says in (dialogue.fault or "") for dialogue in chunk.dialogues] == [True, True], chunk.dialogues
    assert one.turns == (Turn("policy", 0),)


def test_an_answer_that_leaves_no_room_ends_the_episode(worker: RolloutWorker, job: Callable[..., GroupJob]) -> None:
    [one, _], _ = run(worker, job("def respond(item, messages):\n    return '1+' * 40 + '1='"))
    assert (one.finish_reason, one.turns) == ("length", (Turn("policy", 0),))


def test_a_parked_episode_continues_where_it_was(
    worker: RolloutWorker, job: Callable[..., GroupJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted, _ = run(worker, job(TWO_TURNS, max_turns=4))
    host, parks = worker._environments, Event()
    assert host is not None
    reply = host.reply

    def late(*arguments: Any) -> Reply:
        parks.wait(60)
        return reply(*arguments)

    with monkeypatch.context() as until_parked:
        until_parked.setattr(host, "reply", late)
        worker.submit(Submission((job(TWO_TURNS, max_turns=4),), seed=0, alone=True, flush=1))
        wait_until(lambda: any(live.waiting for live in list(worker._live.values())), 60)
        parked = worker.park()["g"]
    parks.set()
    assert [parked.dialogues.get(sample, Dialogue()).waiting for sample in parked.prefixes].count(True) >= 1
    found, _ = run(worker, job(TWO_TURNS, max_turns=4, parked=parked))
    for one, other in zip(found, wanted, strict=True):
        assert (one.token_ids.tolist(), one.turns) == (other.token_ids.tolist(), other.turns)


def test_a_reply_that_cannot_be_made_ends_the_episode_with_its_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    host = EnvironmentHost(POLICY)
    try:
        monkeypatch.setattr(host, "reply", lambda *_: 1 / 0)
        replies: Future[Reply] = Future()
        task = EpisodeTask(PythonEnvironment(source=TWO_TURNS), ROW)
        host.submit(task, Dialogue(waiting=True), (5,), replies.set_result)
        dialogue = replies.result(30).dialogue
        assert dialogue.fault == "The reply could not be made: ZeroDivisionError('division by zero')"
        assert not dialogue.waiting
    finally:
        host.close()
