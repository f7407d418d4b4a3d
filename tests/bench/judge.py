"""The judge client with 256 requests in flight: ``python tests/bench/judge.py``; the endpoint is another process."""

import multiprocessing
import statistics
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.report import Figure, show
from trainer_core.link.judge import JudgeEndpoint
from trainer_core.rewards.graders.model.judge import JudgeRequest
from worker.judge.client import JudgeClient
from worker.judge.open import JudgeSetup, open_judges
from worker.judge.use import Tally

IN_FLIGHT, LATENCY_S, ROUNDS = 256, 0.2, 20
QUESTION = "Does the response name the capital of France? " * 20


def serve(pipe: Connection) -> None:
    """Answer every question after the latency, until told to stop."""
    from tests.support.judge_endpoint import JudgeServer

    server = JudgeServer('{"reason": "", "result": 1}', LATENCY_S)
    pipe.send(server.url)
    pipe.recv()
    pipe.send((server.most_in_flight, server.seconds))
    server.close()


def main() -> None:
    """Measure threads that each ask one question after the other, as the threads of samples do."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs,), daemon=True)
    process.start()
    config = JudgeEndpoint(base_url=ours.recv(), model="m", max_in_flight=IN_FLIGHT)
    judges = open_judges(JudgeSetup({"default": config}, {}), Tally())
    ready = threading.Barrier(IN_FLIGHT)

    def ask(sample: int) -> list[float]:
        judges.ask("default", _request(sample, -1))  # opens the connection
        ready.wait()
        return [_timed(judges, sample, turn) for turn in range(ROUNDS)]

    with ThreadPoolExecutor(IN_FLIGHT) as threads:
        asked = [threads.submit(ask, sample) for sample in range(IN_FLIGHT)]
        used = time.process_time()
        seconds = [value for future in asked for value in future.result()]
        used = time.process_time() - used
    judges.close()
    ours.send("stop")
    most, own = ours.recv()
    endpoint, seen = (statistics.median(times[-len(seconds) :]) for times in (own, seconds))
    process.join()
    show(
        f"Judge client, {IN_FLIGHT} threads, an endpoint of {LATENCY_S * 1000:.0f} ms",
        [
            Figure("requests in flight at the endpoint", most, "", str(IN_FLIGHT)),
            Figure("median time of an answer", seen * 1000, "ms", ""),
            Figure("the same at the endpoint, from request to answer", endpoint * 1000, "ms", ""),
            Figure("over the endpoint's latency", (seen / endpoint - 1) * 100, "%", "under 5"),
            Figure("processor time of a request", used / len(seconds) * 1000, "ms", ""),
        ],
    )


def _timed(judges: JudgeClient, sample: int, turn: int) -> float:
    """Seconds from the question to the answer, as a sample's thread sees them."""
    request = _request(sample, turn)
    started = time.perf_counter()
    judges.ask("default", request)
    return time.perf_counter() - started


def _request(sample: int, turn: int) -> JudgeRequest:
    return JudgeRequest(messages=[{"role": "user", "content": f"{QUESTION}{sample} {turn}"}])


if __name__ == "__main__":
    main()
