"""A judge endpoint with a URL, called by a few threads of a job's process.

A run sends hundreds of requests at a time from an event loop (``worker.judge``). A job sends a few and blocks.
Requests, parsing of answers, and retries are the same (``trainer_core.link``).
"""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeVar

import httpx2

from dressage.imports.connections import ClosedAddress, addresses_of, guarded
from trainer_core.link.completions import (
    CompletionRequest,
    Embedded,
    completion_body,
    embedding_body,
    read_completion,
    read_embeddings,
)
from trainer_core.link.judge import JudgeEndpoint
from trainer_core.link.judge_chat import Answer, ChatCompletions, CutOffError
from trainer_core.link.retry import Transient, pause_s, retry_after
from trainer_core.networks import may_ask
from trainer_core.rewards.graders.model.judge import TRIES, JudgeError, JudgeRequest

MOST_AT_ONCE = 16
"""Maximum number of concurrent requests of a job, whatever its endpoint allows."""
_MOST_BYTES = 16 << 20
"""Maximum size of a response body."""
_ANOTHER_SEED = 1_000_003
T = TypeVar("T")


@dataclass(slots=True)
class AskedTokens:
    """Number of requests and tokens used."""

    questions: int = 0
    """Answers received, including unreadable ones."""
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @classmethod
    def sum_of(cls, uses: Iterable["AskedTokens"]) -> "AskedTokens":
        """The sum of all of them."""
        found = cls()
        for use in uses:
            found.questions += use.questions
            found.prompt_tokens += use.prompt_tokens
            found.completion_tokens += use.completion_tokens
        return found


class AskedModel(Protocol):
    """A model that a job calls. Thread-safe."""

    @property
    def config(self) -> JudgeEndpoint:
        """Its limits and prices."""

    def ask(self, request: JudgeRequest) -> Answer:
        """The answer. Raises JudgeError if there is none, CutOffError if it was cut off."""

    def complete(self, request: CompletionRequest) -> Answer:
        """The continuation of a text, whether cut off or not. Raises JudgeError if there is none."""

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Embeddings of texts. Raises JudgeError if there are none; one text may then be too long for the model."""

    def close(self) -> None:
        """Release its resources."""


class EndpointClient:
    """An endpoint with a URL. Thread-safe."""

    def __init__(self, config: JudgeEndpoint) -> None:
        assert config.base_url is not None
        self.config = config
        self._chat = ChatCompletions(config)
        self._base = config.base_url.rstrip("/")
        headers = {"Content-Type": "application/json"}
        if config.api_key is not None:
            headers["Authorization"] = f"Bearer {config.api_key.get_secret_value()}"
        client = httpx2.Client(headers=headers, timeout=config.timeout_s, follow_redirects=False, trust_env=False)
        self._client = guarded(client, self._open_addresses)
        self._lock = threading.Lock()
        self._resume_at = 0.0
        """Time on the monotonic clock until which the endpoint has asked us to wait."""

    def ask(self, request: JudgeRequest) -> Answer:
        """Implements ``AskedModel.ask``. There is no answer if all attempts have failed."""
        return self._tried(lambda: self._once(request))

    def complete(self, request: CompletionRequest) -> Answer:
        """Implements ``AskedModel.complete``."""
        body = completion_body(self.config.model, request)
        return self._tried(lambda: self._read("completions", body, read_completion))

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Implements ``AskedModel.embed``."""
        body = embedding_body(self.config.model, texts)
        return self._tried(lambda: self._read("embeddings", body, partial(read_embeddings, texts=len(texts))))

    def _tried(self, once: Callable[[], T]) -> T:
        tries = self.config.retries + 1
        for attempt in range(1, tries + 1):
            self._wait()
            try:
                return once()
            except Transient as error:
                if attempt == tries:
                    times = "once" if tries == 1 else f"{tries} times"
                    raise JudgeError(f"the judge {self.config.model} failed {times}: {error}") from None
                pause = pause_s(attempt, error.after_s)
                if error.after_s is not None:
                    with self._lock:
                        self._resume_at = max(self._resume_at, time.monotonic() + pause)
            time.sleep(pause)
        raise AssertionError("the last try returns or raises")

    def close(self) -> None:
        """Close connections."""
        self._client.close()

    def _wait(self) -> None:
        while (rest := self._resume_at - time.monotonic()) > 0:
            time.sleep(rest)

    def _once(self, request: JudgeRequest) -> Answer:
        path = "chat/completions"
        status, body, after = self._post(path, self._chat.body(request))
        if self._chat.wants_another_limit(status, body):
            status, body, after = self._post(path, self._chat.body(request))
        return self._chat.read(status, body, request, after)

    def _read(self, path: str, body: bytes, read: Callable[[ChatCompletions, int, str, float | None], T]) -> T:
        return read(self._chat, *self._post(path, body))

    def _post(self, path: str, body: bytes) -> tuple[int, str, float | None]:
        """(status, body, seconds to wait as requested by the server). Raises Transient if there was no response."""
        until, data = time.monotonic() + self.config.timeout_s, b""
        late = f"it did not answer within {self.config.timeout_s:g} s"
        try:
            with self._client.stream("POST", f"{self._base}/{path}", content=body) as response:
                for part in response.iter_bytes():
                    data += part
                    if len(data) > _MOST_BYTES:
                        raise JudgeError(f"the judge {self.config.model} sends more than {_MOST_BYTES >> 20} MiB")
                    if time.monotonic() > until:
                        raise Transient(late)
                after = retry_after(response.headers.get("Retry-After"))
                return response.status_code, data.decode(errors="replace"), after
        except httpx2.TimeoutException:
            raise Transient(late) from None
        except ClosedAddress as error:
            detail = f"the judge's address {error} is in a network that this installation does not allow for judges"
            raise JudgeError(detail) from None
        except httpx2.HTTPError as error:
            said = self._chat.clean(str(error))
            raise Transient(f"it cannot be reached: {type(error).__name__}: {said}") from None

    def _open_addresses(self, host: str, port: int) -> list[str]:
        networks = self.config.networks
        return [one for one in addresses_of(host, port) if networks is None or may_ask(one, networks)]


class RowAsker:
    """Asks about one row, and counts requests and tokens."""

    def __init__(self, client: AskedModel, other: AskedModel | None = None) -> None:
        """``other``: a second model, which answers what the first one has written."""
        self._client = client
        self.use = AskedTokens()
        self.other = self if other is None else RowAsker(other)
        """Asks the second model; if there is none, the first."""

    def ask(self, request: JudgeRequest, read: Callable[[str], T]) -> T:
        """The value that ``read`` returns for an answer. Unreadable answers are requested again with another seed.

        Raises:
            JudgeError: there was no answer, or no readable one.
        """
        for left in reversed(range(TRIES)):
            try:
                answer = self._client.ask(request)
            except CutOffError as error:
                self._count(error.answer)
                raise
            self._count(answer)
            try:
                return read(answer.text)
            except JudgeError:
                if not left:
                    raise
                request = replace(request, seed=(request.seed or 0) + _ANOTHER_SEED)
        raise AssertionError("the last try returns or raises")

    def complete(self, request: CompletionRequest) -> Answer:
        """The continuation of a text. Raises as ``AskedModel.complete``."""
        answer = self._client.complete(request)
        self._count(answer)
        return answer

    def _count(self, answer: Answer) -> None:
        self.use.questions += 1
        self.use.prompt_tokens += answer.prompt_tokens
        self.use.completion_tokens += answer.completion_tokens
