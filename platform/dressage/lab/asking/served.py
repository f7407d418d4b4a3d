"""Client for models that the cluster serves. The job's process sends requests to its parent, which has the database."""

import itertools
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from trainer_core.link.completions import CompletionRequest, Embedded
from trainer_core.link.judge import JudgeEndpoint
from trainer_core.link.judge_chat import Answer, CutOffError
from trainer_core.link.serving import unpacked
from trainer_core.rewards.graders.model.judge import JudgeError, JudgeRequest

ASKED, ANSWERS = "asked", "answers"
"""Keys of the messages between a process and its parent: requests and answers."""


class QuestionPipe:
    """Requests to the parent, and its answers. Thread-safe."""

    def __init__(self, write: Callable[[dict[str, Any]], None]) -> None:
        """``write`` sends a line to the parent. Only one thread calls it at a time."""
        self._write = write
        self._numbers = itertools.count()
        self._waiting: dict[str, Future[dict[str, Any]]] = {}
        self._lock = threading.Lock()

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request: a ``ServedAnswer`` without its id.

        Blocks; the parent eventually answers every request.
        """
        key, answered = str(next(self._numbers)), Future[dict[str, Any]]()
        with self._lock:
            self._waiting[key] = answered
            self._write({ASKED: {"key": key, "question": question}})
        return answered.result()

    def take(self, line: dict[str, Any]) -> None:
        """Process a line from the parent."""
        for key, answer in line[ANSWERS].items():
            with self._lock:
                waiting = self._waiting.pop(key)
            waiting.set_result(answer)


class ServedClient:
    """A model that the cluster serves, with the methods of ``EndpointClient``. Thread-safe."""

    def __init__(self, config: JudgeEndpoint, name: str, pipe: QuestionPipe) -> None:
        """``name`` is the model's name in requests."""
        self.config = config
        self._name, self._pipe = name, pipe

    def ask(self, request: JudgeRequest) -> Answer:
        """Implements ``AskedModel.ask``."""
        answer, finish = self._reply(
            messages=[dict(message) for message in request.messages],
            max_tokens=request.max_tokens,
            temperature=request.temperature,
            top_p=request.top_p,
            seed=request.seed,
        )
        if finish != "stop":
            detail = f"the answer of {self.config.model} was cut off at {request.max_tokens} tokens"
            raise CutOffError(detail, answer)
        return answer

    def complete(self, request: CompletionRequest) -> Answer:
        """Implements ``AskedModel.complete``."""
        return self._reply(prompt=request.prompt, max_tokens=request.max_tokens, temperature=0.0)[0]

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Implements ``AskedModel.embed``."""
        answer, _ = self._reply(texts=list(texts), max_tokens=1)
        return Embedded(unpacked(answer.text, len(texts)), answer.prompt_tokens)

    def close(self) -> None:
        """Does nothing: the parent ends the serving."""

    def _reply(self, **question: Any) -> tuple[Answer, str]:
        """(answer, finish reason)."""
        reply = self._pipe.ask({"model": self._name, **question})
        if reply["error"]:
            raise JudgeError(reply["error"])
        return Answer(reply["text"], reply["prompt_tokens"], reply["completion_tokens"]), reply["finish_reason"]
