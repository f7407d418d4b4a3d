"""One tiny tied policy and one untied one, each with a running engine, shared by every engine test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from transformers import Qwen3ForCausalLM

from tests.worker.engine.policies import make_policy, start, state
from worker.engine import Completion, InferenceEngine

Collect = Callable[[], dict[str, Completion]]


@pytest.fixture(scope="session")
def tied_policy(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Qwen3ForCausalLM]:
    path = tmp_path_factory.mktemp("tied")
    return path, make_policy(path, tied=True)


@pytest.fixture(scope="session")
def untied_policy(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Qwen3ForCausalLM]:
    path = tmp_path_factory.mktemp("untied")
    return path, make_policy(path, tied=False)


def listening() -> set[tuple[str, int]]:
    return {(c.laddr.ip, c.laddr.port) for c in psutil.Process().net_connections() if c.status == psutil.CONN_LISTEN}


@pytest.fixture(scope="session")
def opened_listeners() -> set[tuple[str, int]]:
    """Addresses the process began to listen on while `shared_engine` started."""
    return set()


@pytest.fixture(scope="session")
def shared_engine(
    tied_policy: tuple[Path, Qwen3ForCausalLM], opened_listeners: set[tuple[str, int]]
) -> Iterator[InferenceEngine]:
    before = listening()
    engine = start(tied_policy[0], speculation="tail")
    opened_listeners |= listening() - before
    # Tests count steps; those of speculation put a speculator of their own in its place.
    engine._speculator = engine._core.scheduler.speculator = None
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def untied_engine(shared_engine: InferenceEngine, untied_policy: tuple[Path, Qwen3ForCausalLM]) -> InferenceEngine:
    """With room for four KV blocks. Shares vLLM's process-wide parts with `shared_engine`, which closes them."""
    return start(untied_policy[0], kv_cache_gib=0.001)


@pytest.fixture
def engine(shared_engine: InferenceEngine, tied_policy: tuple[Path, Qwen3ForCausalLM]) -> Iterator[InferenceEngine]:
    """The shared engine, empty and on its first weights before and after the test."""
    yield shared_engine
    shared_engine.park()
    if shared_engine.version != 0:
        shared_engine.load_weights(0, state(tied_policy[1]))


@pytest.fixture
def collect(engine: InferenceEngine) -> Collect:
    """Step until nothing is left."""

    def run() -> dict[str, Completion]:
        done: dict[str, Completion] = {}
        while engine.has_unfinished:
            done |= {completion.request_id: completion for completion in engine.step()}
        return done

    return run
