"""A workbench that grows while it scores."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.judge_endpoint import JudgeServer
from trainer_core.link.reward import RewardVersion
from trainer_core.rewards import RewardDefinition, Sample
from worker.scoring.equipped import ToolSetup
from worker.scoring.growing import GrowingScorer
from worker.scoring.scorer import Job

JUDGED = {"type": "score_model", "input": [{"role": "user", "content": "{{sample.output_text}}"}]}


def definition(grader: dict[str, Any]) -> RewardDefinition:
    return RewardDefinition.model_validate({"components": [{"name": "part", "grader": grader}]})


def judged(server: JudgeServer) -> RewardVersion:
    endpoint = {"base_url": server.url, "model": "m"}
    return RewardVersion.model_validate({"definition": definition(JUDGED), "judges": {"default": endpoint}})


def job(scorer: GrowingScorer, ref: str, text: str, **item: Any) -> Job:
    return Job(scorer.definition(ref), Sample(text, None, text, len(text)), item)


@pytest.fixture
def servers() -> Iterator[list[JudgeServer]]:
    made = [JudgeServer('{"reason": "", "result": 0.5}'), JudgeServer('{"reason": "", "result": 0.25}')]
    yield made
    for server in made:
        server.close()


def test_it_scores_by_versions_that_came_later(servers: list[JudgeServer]) -> None:
    scorer = GrowingScorer({"a@1": RewardVersion(definition=definition({"type": "exact"}))}, ToolSetup(), 10.0)
    with pytest.raises(KeyError):
        scorer.definition("b@1")
    scorer.equip({"b@1": judged(servers[0])})
    jobs = [job(scorer, "a@1", "1", answer="1"), job(scorer, "b@1", "x")]
    assert [one.score.reward for one in scorer.score(jobs)] == [1.0, 0.5]
    assert (scorer.use().calls, scorer.use().calls) == (1, 0)


def test_what_is_under_way_keeps_the_judge_it_began_with(servers: list[JudgeServer]) -> None:
    old, new = servers
    go = threading.Event()

    def late(body: dict[str, Any]) -> str:
        assert go.wait(30)
        return '{"reason": "", "result": 0.5}'

    scorer = GrowingScorer({"a@1": judged(old)}, ToolSetup(), 30.0)
    old.say = late
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.extend(scorer.score([job(scorer, "a@1", "x")])))
    thread.start()
    while not old.requests:
        thread.join(0.01)
    scorer.equip({"b@1": judged(new)})
    assert scorer.score([job(scorer, "b@1", "y")])[0].score.reward == 0.25
    go.set()
    thread.join(30)
    assert [one.score.reward for one in found] == [0.5]
    assert scorer.use().calls == 2, "what the old judges were asked is not lost"
    assert scorer.score([job(scorer, "a@1", "z")])[0].score.reward == 0.25, "the newest endpoint of a name counts"


def test_nothing_is_opened_anew_without_need(servers: list[JudgeServer]) -> None:
    scorer = GrowingScorer({"a@1": judged(servers[0])}, ToolSetup(), 10.0)
    before = scorer._current
    scorer.equip({"b@1": judged(servers[0]), "c@1": RewardVersion(definition=definition({"type": "numeric"}))})
    assert scorer._current is before
    scorer.equip({"d@1": judged(servers[1])})
    assert scorer._current is not before and list(scorer._jobs) == [scorer._current], "the idle one has ended"
