"""A judge served by an engine of the cluster: one Ray actor per endpoint, used by all reward workers."""

from __future__ import annotations

import itertools
import json
import time
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from ray.exceptions import RayActorError, RayTaskError

from trainer_core.link.judge_chat import Answer
from trainer_core.link.retry import Transient
from trainer_core.link.serving import ServedQuestion
from trainer_core.rewards.graders.model.judge import JudgeError, JudgeRequest
from worker.engine import Completion, EngineConfig, EngineError, Request, Sampling, TokenProgress
from worker.engine.thread import EngineThread

if TYPE_CHECKING:
    from ray.actor import ActorHandle

MOST_LENGTH = 8192
"""Most tokens of a question and its answer, even if the model supports more."""
MOST_RUNNING = 256
KV_CACHE_GIB = 2.0


@dataclass(frozen=True, slots=True)
class ServeConfig:
    """Configuration of the model that the actor serves."""

    model_dir: Path
    max_in_flight: int
    kv_cache_gib: float = KV_CACHE_GIB
    dtype: str = "auto"


@dataclass(frozen=True, slots=True)
class ServedReply:
    """Text of a model, and its cost."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    finish_reason: Literal["stop", "length"]


class JudgeServer:
    """Ray actor with ``max_in_flight`` threads, which share one engine."""

    def __init__(self) -> None:
        self._engine = EngineThread()
        self._numbers = itertools.count()

    def start(self, config: ServeConfig) -> float:
        """Load tokenizer and engine. Returns the seconds it took; raises StartError or EngineError with a reason."""
        from worker.engine.startup import eos_token_ids
        from worker.engine.tokenizer import PolicyTokenizer

        started = time.perf_counter()
        self._tokenizer = PolicyTokenizer(config.model_dir)
        self._tokenizer.prompt_text({"messages": [{"role": "user", "content": "?"}]})  # check the chat template
        self._eos = eos_token_ids(str(config.model_dir))
        self._max_length = _max_length(config.model_dir)
        self._engine.start(
            EngineConfig(
                model_dir=str(config.model_dir),
                dtype=config.dtype,
                max_model_len=self._max_length,
                max_num_seqs=min(config.max_in_flight, MOST_RUNNING),
                kv_cache_gib=config.kv_cache_gib,
            )
        )
        return time.perf_counter() - started

    def ask(self, request: JudgeRequest) -> Answer:
        """One answer. Raises JudgeError if the question leaves no room for it, or the answer is cut off."""
        temperature = 1.0 if request.temperature is None else request.temperature
        row = {"messages": [dict(message) for message in request.messages]}
        reply = self._generate(row, temperature, request.top_p, request.max_tokens, request.seed)
        if reply.finish_reason != "stop":
            raise JudgeError(f"the judge's answer was cut off at {request.max_tokens} tokens")
        return Answer(reply.text, reply.prompt_tokens, reply.completion_tokens)

    def reply(self, question: ServedQuestion) -> ServedReply:
        """The model's text, whether or not it was cut off. Raises JudgeError if there is no room for it."""
        temperature = 1.0 if question.temperature is None else question.temperature
        row: dict[str, Any] = (
            {"prompt": question.prompt} if question.messages is None else {"messages": list(question.messages)}
        )
        return self._generate(row, temperature, question.top_p, question.max_tokens, question.seed)

    def _generate(
        self, row: dict[str, Any], temperature: float, top_p: float | None, max_tokens: int, seed: int | None
    ) -> ServedReply:
        (prompt,) = self._tokenizer.encode_rows([row])
        if len(prompt) + max_tokens > self._max_length:
            raise JudgeError(
                f"a question of {len(prompt)} tokens leaves less than {max_tokens} for the answer: the judge's context"
                f" is {self._max_length}"
            )
        sampling = Sampling(
            temperature=temperature,
            top_p=top_p or 1.0,
            max_tokens=max_tokens,
            seed=seed if temperature > 0 else None,  # greedy sampling needs none, and a seed costs time
        )
        waiting = _WholeAnswer()
        try:
            self._engine.submit(Request(str(next(self._numbers)), tuple(prompt.tolist()), sampling), waiting)
            completion = waiting.done.result()
        except ValueError as error:
            raise JudgeError(f"the judge cannot be asked: {error}") from error
        except EngineError as error:
            raise JudgeError(f"the judge cannot answer: {error}") from error
        (text,) = self._tokenizer.decode([np.array(completion.token_ids, np.int32)], self._eos)
        reason: Literal["stop", "length"] = "stop" if completion.finish_reason == "stop" else "length"
        return ServedReply(text, len(prompt), len(completion.token_ids), reason)


class _WholeAnswer:
    """A caller that waits for the whole completion. Implements ``Listener``."""

    def __init__(self) -> None:
        self.done: Future[Completion] = Future()

    def progressed(self, progress: TokenProgress) -> None:
        """Never called: it wants no progress."""

    def ended(self, completion: Completion) -> None:
        self.done.set_result(completion)

    def failed(self, error: Exception) -> None:
        self.done.set_exception(error)


class ServedEndpoint:
    """Implements ``worker.judge.endpoint.Endpoint``."""

    def __init__(self, server: ActorHandle) -> None:
        self._server = server

    async def ask(self, request: JudgeRequest) -> Answer:
        """Implements ``Endpoint.ask``."""
        try:
            answer: Answer = await self._server.ask.remote(request)
            return answer
        except RayTaskError as error:
            if isinstance(error.cause, JudgeError):
                raise error.cause from None
            raise JudgeError(f"the judge failed: {error.cause}") from error
        except RayActorError as error:
            raise Transient(f"its actor is lost: {error}") from error

    async def close(self) -> None:
        """Nothing to close: the actor belongs to its creator."""


def _max_length(model_dir: Path) -> int:
    config: dict[str, Any] = json.loads((model_dir / "config.json").read_text())
    return min(int(config.get("max_position_embeddings", MOST_LENGTH)), MOST_LENGTH)
