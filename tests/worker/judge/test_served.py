"""A judge that an engine serves: the starter policy, which answers calculations."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from trainer_core.link.judge import JudgeEndpoint
from trainer_core.rewards.graders.model.judge import JudgeError, JudgeRequest
from worker.engine import EngineConfig, Request
from worker.errors import StartError
from worker.judge.open import JudgeSetup, open_judges
from worker.judge.served import JudgeServer, ServeConfig
from worker.judge.servers import start_servers
from worker.judge.use import Tally

STARTER = Path(__file__).resolve().parents[3] / "demo" / "starter-policy"


def question(text: str, **options: object) -> JudgeRequest:
    return JudgeRequest(messages=[{"role": "user", "content": text}], **{"max_tokens": 64, **options})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def served(cluster: None) -> Iterator[JudgeSetup]:
    """The actor, as a run starts it."""
    import ray

    judges = {
        "own": JudgeEndpoint(model="starter", model_dir=STARTER, max_in_flight=16),
        "away": JudgeEndpoint(model="m", base_url="http://127.0.0.1:9/v1"),
    }
    servers = start_servers(judges, lambda slug: f"test-judge-{slug}")
    assert list(servers.handles) == ["own"]
    assert all(seconds > 0 for seconds in ray.get(servers.started))
    yield JudgeSetup(judges, servers.handles)
    servers.close()


def test_threads_ask_the_engine_together(served: JudgeSetup) -> None:
    tally = Tally()
    judges = open_judges(served, tally)
    with ThreadPoolExecutor(12) as threads:
        replies = list(threads.map(lambda n: judges.ask("own", question(f"{n}+1=")), range(10, 22)))
    assert all(reply.text and "<eos>" not in reply.text for reply in replies)
    assert [reply.prompt_tokens for reply in replies] == [5] * 12
    assert all(reply.completion_tokens > 0 and not reply.cached for reply in replies)
    again = judges.ask("own", question("10+1="))
    assert (again.text, again.cached) == (replies[0].text, True)  # greedy
    assert tally.take().calls == 13
    judges.close()


def test_questions_without_room_are_errors(served: JudgeSetup) -> None:
    judges = open_judges(served, Tally())
    with pytest.raises(JudgeError, match="leaves less than 2000 for the answer: the judge's context is 2048"):
        judges.ask("own", question("1+1=" * 100, max_tokens=2000))
    with pytest.raises(JudgeError, match="cut off at 1 tokens"):
        judges.ask("own", question("48/2=", max_tokens=1))
    judges.close()


def test_a_judge_without_its_engine_is_refused(served: JudgeSetup) -> None:
    with pytest.raises(StartError, match="The judge own is served by the cluster"):
        open_judges(JudgeSetup(served.endpoints, {}), Tally())


def test_a_folder_without_a_chat_template_is_refused(tmp_path: Path) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json", "config.json"):
        (tmp_path / name).write_bytes((STARTER / name).read_bytes())
    with pytest.raises(StartError, match="no chat template"):
        JudgeServer().start(ServeConfig(tmp_path, 4))


def test_an_engine_that_fails_answers_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        has_unfinished = False

        def __init__(self, config: EngineConfig) -> None: ...

        def submit(self, request: Request) -> None:
            raise RuntimeError("out of memory")

    monkeypatch.setattr("worker.engine.thread.InferenceEngine", Broken)
    server = JudgeServer()
    server.start(ServeConfig(STARTER, 4))
    with ThreadPoolExecutor(3) as threads:
        asked = [threads.submit(server.ask, question("1+1=")) for _ in range(3)]
    for done in asked:  # those that came before the failure, and those that came later
        with pytest.raises(JudgeError, match="the judge cannot answer: the engine has failed: out of memory"):
            done.result(0)
