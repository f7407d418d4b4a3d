"""The judge client against a real endpoint: retries, limits, cache, accounting."""

import asyncio
import socket
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.judge_endpoint import JudgeServer, Reply, completion
from trainer_core.link import retry
from trainer_core.rewards.graders.model.judge import JudgeError, JudgeRequest
from worker.judge.client import JudgeClient
from worker.judge.clock import Clock, TimedOut, current
from worker.judge.use import Tally, metrics

Open = Callable[..., JudgeClient]


def question(text: str = "?", **options: Any) -> JudgeRequest:
    return JudgeRequest(messages=[{"role": "user", "content": text}], **options)


def in_turn(*replies: Any) -> Callable[[dict[str, Any]], Any]:
    """Says one thing after the other, and the last for ever."""
    left = list(replies)
    return lambda body: left.pop(0) if len(left) > 1 else left[0]


def test_what_is_sent_and_what_comes_back(server: JudgeServer, open_client: Open) -> None:
    reply = open_client().ask("default", question(max_tokens=9, seed=3, response_format={"type": "json_object"}))
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens, reply.cached) == ("fine", 100, 10, False)
    assert reply.seconds > 0
    assert server.requests == [
        {"model": "m", "messages": [{"role": "user", "content": "?"}], "max_tokens": 9, "temperature": 0.0, "seed": 3,
         "response_format": {"type": "json_object"}}
    ]  # fmt: skip
    assert server.headers["Authorization"] == "Bearer sk-secret"


@pytest.mark.parametrize(
    "trouble",
    [
        Reply({"error": {"message": "busy"}}, 429),
        Reply("down", 500),
        Reply("down", 503),
        Reply("<html>no JSON</html>"),
        Reply({"choices": []}),
        Reply(completion(None)),
        Reply([1]),
    ],
    ids=["429", "500", "503", "html", "no choice", "no text", "list"],
)
def test_trouble_is_tried_again(server: JudgeServer, open_client: Open, tally: Tally, trouble: Reply) -> None:
    server.say = in_turn(trouble, trouble, "fine")
    assert open_client(retries=2).ask("default", question()).text == "fine"
    assert len(server.requests) == 3
    use = tally.take()
    assert (use.calls, use.errors) == (1, 0)


def test_the_last_trouble_is_the_error(server: JudgeServer, open_client: Open, tally: Tally) -> None:
    server.say = lambda body: Reply({"error": {"message": "overloaded"}}, 529)
    with pytest.raises(JudgeError, match="the judge m failed 3 times: it answered 529: overloaded"):
        open_client(retries=2).ask("default", question())
    assert len(server.requests) == 3
    assert tally.take().errors == 1


def test_what_will_not_change_is_not_tried_again(server: JudgeServer, open_client: Open) -> None:
    server.say = lambda body: Reply({"error": {"message": "no key sk-secret here"}}, 401)
    with pytest.raises(JudgeError, match=r"answered 401: no key \*\*\* here") as raised:
        open_client().ask("default", question())
    assert len(server.requests) == 1
    assert "sk-secret" not in str(raised.value)


def test_retry_after_is_honoured_and_others_wait_as_well(
    server: JudgeServer, open_client: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.say = in_turn(Reply("later", 429, {"Retry-After": "30"}), "fine")
    client, both = open_client(max_in_flight=1), asyncio.Event()
    pauses, asked = list[float](), list[int]()

    async def sleep(seconds: float) -> None:
        """Until both questions wait: then the time is over."""
        pauses.append(seconds)
        if len(pauses) == 2:
            asked.append(len(server.requests))
            client._judges["default"].resume_at = 0.0
            both.set()
        await both.wait()

    monkeypatch.setattr("worker.judge.client.asyncio", SimpleNamespace(**{**vars(asyncio), "sleep": sleep}))
    with ThreadPoolExecutor(2) as threads:
        replies = list(threads.map(lambda text: client.ask("default", question(text)).text, ["a", "b"]))
    assert replies == ["fine", "fine"]
    assert asked == [1], "nothing was asked meanwhile"
    assert 0.0 < pauses[1] < pauses[0] + 0.001 and 30.0 <= pauses[0] <= 30.0 + retry.SPREAD_S
    assert len(server.requests) == 3


def test_a_hanging_endpoint_times_out(server: JudgeServer, open_client: Open) -> None:
    server.hang = lambda body: True
    with pytest.raises(JudgeError, match=r"failed 2 times: it did not answer within 0\.2 s"):
        open_client(retries=1, timeout_s=0.2).ask("default", question())


def test_an_endpoint_that_is_not_there(open_client: Open) -> None:
    with (
        socket.socket() as held,
        pytest.raises(JudgeError, match="failed once: it cannot be reached: ClientConnectorError"),
    ):
        held.bind(("127.0.0.1", 0))  # nobody else takes the port, and nothing listens at it
        address = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        open_client(base_url=address, retries=0).ask("default", question())
    with pytest.raises(JudgeError, match="there is no judge endpoint 'other'"):
        open_client().ask("other", question())


def test_a_redirect_is_not_followed_with_the_key(server: JudgeServer, open_client: Open) -> None:
    server.say = lambda body: Reply("", 307, {"Location": "http://127.0.0.1:9/steal"})
    with pytest.raises(JudgeError, match="answered 307"):
        open_client().ask("default", question())


def test_an_endless_answer_is_not_read_to_its_end(
    server: JudgeServer, open_client: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.judge.http.MOST_BYTES", 1 << 20)
    server.say = lambda body: "x" * (3 << 20)
    with pytest.raises(JudgeError, match="sends more than 1 MiB"):
        open_client().ask("default", question())


def test_a_cut_answer_is_an_error(server: JudgeServer, open_client: Open) -> None:
    server.say = lambda body: Reply(completion("{", finish="length"))
    with pytest.raises(JudgeError, match="cut off at 5 tokens"):
        open_client().ask("default", question(max_tokens=5))


def test_newer_models_get_the_newer_name_of_the_limit(server: JudgeServer, open_client: Open) -> None:
    refusal = Reply({"error": {"message": "use 'max_completion_tokens' instead of 'max_tokens'"}}, 400)
    server.say = lambda body: refusal if "max_tokens" in body else "fine"
    client = open_client()
    assert [client.ask("default", question(text)).text for text in "ab"] == ["fine", "fine"]
    assert ["max_tokens" in body for body in server.requests] == [True, False, False]


def test_no_more_in_flight_than_allowed(server: JudgeServer, open_client: Open) -> None:
    server.together = 5
    replies = open_client(max_in_flight=5).ask_all("default", [question(str(n)) for n in range(40)])
    assert len(replies) == 40
    assert server.most_in_flight == 5


def test_equal_questions_are_asked_once(server: JudgeServer, open_client: Open, tally: Tally) -> None:
    server.latency_s = 0.1
    client = open_client()
    with ThreadPoolExecutor(8) as threads:
        replies = list(threads.map(lambda _: client.ask("default", question()), range(8)))
    assert [reply.text for reply in replies] == ["fine"] * 8
    assert client.ask("default", question()).cached
    assert len(server.requests) == 1
    use = tally.take()
    assert (use.calls, use.cached, use.prompt_tokens) == (9, 8, 100)


def test_all_that_decides_the_answer_is_in_the_key(server: JudgeServer, open_client: Open) -> None:
    client = open_client()
    requests = [question(), question("!"), question(seed=1), question(temperature=0.5), question(max_tokens=3)]
    client.ask_all("default", requests)
    client.ask_all("default", requests)
    assert len(server.requests) == 5
    client.forget("default", requests[0])
    assert not client.ask("default", requests[0]).cached


def test_the_cache_outlives_the_process(server: JudgeServer, open_client: Open, tmp_path: Path) -> None:
    path = tmp_path / "answers" / "0.sqlite"
    first = open_client(cache=path)
    first.ask_all("default", [question(str(n)) for n in range(300)])
    first.forget("default", question("7"))
    first.close()
    again = open_client(cache=path)
    replies = again.ask_all("default", [question(str(n)) for n in range(300)])
    assert [n for n, reply in enumerate(replies) if not reply.cached] == [7]
    assert len(server.requests) == 301
    with pytest.raises(JudgeError, match="closed"):
        first.ask("default", question("new"))


def test_a_broken_cache_file_costs_only_calls(server: JudgeServer, open_client: Open, tmp_path: Path) -> None:
    path = tmp_path / "0.sqlite"
    path.write_bytes(b"this is no database" * 100)
    client = open_client(cache=path)
    assert [client.ask("default", question()).cached for _ in range(2)] == [False, True]


def test_cost_and_latency_are_counted(server: JudgeServer, open_client: Open, tally: Tally) -> None:
    server.latency_s = 0.05
    client = open_client(price_prompt=2.0, price_completion=8.0)
    for text in "aab":
        client.ask("default", question(text))
    client.agreed("repeat", 1.0)
    client.agreed("repeat", 0.5)
    found = metrics(tally.take())
    assert found.pop("judge/latency_p50") >= 0.05
    assert found.pop("judge/latency_p95") >= 0.05
    assert found == {
        "judge/calls": 3.0,
        "judge/errors": 0.0,
        "judge/cached_share": pytest.approx(1 / 3),
        "judge/tokens": 220.0,
        "judge/cost": pytest.approx(2 * (100 * 2 + 10 * 8) / 1e6),
        "judge/agreement_repeat": 0.75,
    }
    assert metrics(tally.take()) == {}


def test_an_unknown_price_is_not_nothing(server: JudgeServer, open_client: Open, tally: Tally) -> None:
    open_client(price_prompt=1.0).ask("default", question())
    assert "judge/cost" not in metrics(tally.take())


def test_a_failure_is_told_before_slower_answers(server: JudgeServer, open_client: Open, tally: Tally) -> None:
    server.hang = lambda body: body["messages"][0]["content"] == "slow"
    server.say = lambda body: Reply({"error": {"message": "no such model"}}, 400)
    client = open_client(timeout_s=5.0, retries=0)
    with pytest.raises(JudgeError, match="no such model"):
        client.ask_all("default", [question("slow"), question("quick")])
    assert tally.take().errors == 1


def test_time_that_is_up_ends_all_of_a_sample_s_questions(server: JudgeServer, open_client: Open) -> None:
    server.hang = lambda body: True
    client, clock = open_client(), Clock(0.0)

    def ask() -> None:
        current.set(clock)
        client.ask_all("default", [question("one"), question("two")])

    with ThreadPoolExecutor(1) as threads:
        asking = threads.submit(ask)
        assert server.hung.wait(10.0)
        assert clock.check(lambda thread: None)
        with pytest.raises(TimedOut):
            asking.result(10.0)


def test_closing_gives_up_what_is_under_way(server: JudgeServer, open_client: Open) -> None:
    server.hang = lambda body: True
    client, ended = open_client(), threading.Event()

    def ask() -> None:
        with pytest.raises(CancelledError):
            client.ask("default", question())
        ended.set()

    threading.Thread(target=ask, daemon=True).start()
    assert server.hung.wait(10.0)
    client.close()
    assert ended.wait(10.0)


def test_who_wakes_after_the_closing_is_told_as_well(
    server: JudgeServer, open_client: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.hang = lambda body: True
    client, closed = open_client(), threading.Event()

    class Sleepy(SimpleQueue[Any]):
        def get(self, block: bool = True, timeout: float | None = None) -> Any:
            told = super().get(block, timeout)
            assert closed.wait(10.0)
            return told

    monkeypatch.setattr("worker.judge.client.SimpleQueue", Sleepy)
    with ThreadPoolExecutor(1) as threads:
        asking = threads.submit(client.ask_all, "default", [question("one"), question("two")])
        assert server.hung.wait(10.0)
        client.close()
        closed.set()
        with pytest.raises(CancelledError):
            asking.result(10.0)


def test_a_closed_client_is_asked_nothing(server: JudgeServer, open_client: Open) -> None:
    client = open_client()
    client.close()
    client.close()
    with pytest.raises(JudgeError, match="the judges were closed"):
        client.ask("default", question())
    assert server.requests == []
