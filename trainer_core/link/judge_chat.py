"""Chat completions as OpenAI-compatible endpoints speak them: a question's body, and what an answer holds."""

import json
from dataclasses import dataclass

from trainer_core.link.judge import JudgeEndpoint
from trainer_core.link.retry import TRANSIENT, Transient
from trainer_core.rewards.graders.model.judge import JudgeError, JudgeRequest


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer that came back."""

    text: str
    prompt_tokens: int
    completion_tokens: int


class CutOffError(JudgeError):
    """An answer that ended at its longest. It is of no use, and was paid for all the same."""

    def __init__(self, message: str, answer: Answer) -> None:
        super().__init__(message)
        self.answer = answer


class ChatCompletions:
    """What is sent to one endpoint, and how its answers are read. Knows no network."""

    def __init__(self, config: JudgeEndpoint) -> None:
        self._config = config
        self._secret = config.api_key.get_secret_value() if config.api_key is not None else ""
        self._limit = "max_tokens"
        """The name by which the endpoint knows the longest answer: newer models of OpenAI refuse the older one."""

    def body(self, request: JudgeRequest) -> bytes:
        """The JSON of a question."""
        fields = {
            "model": self._config.model,
            "messages": list(request.messages),
            self._limit: request.max_tokens,
            "temperature": request.temperature,
            "top_p": request.top_p,
            "seed": request.seed,
            "reasoning_effort": request.reasoning_effort,
            "response_format": request.response_format,
        }
        given = {name: value for name, value in fields.items() if value is not None}
        return json.dumps(given).encode()

    def wants_another_limit(self, status: int, body: str) -> bool:
        """Whether the endpoint refuses the older name of the longest answer; the next body has the newer one."""
        if status == 400 and self._limit == "max_tokens" and "max_completion_tokens" in body:
            self._limit = "max_completion_tokens"
            return True
        return False

    def read(self, status: int, body: str, request: JudgeRequest, after_s: float | None) -> Answer:
        """The answer.

        Args:
            status: the response's status.
            body: the response's text.
            request: what was asked.
            after_s: seconds that its ``Retry-After`` asks for.

        Raises:
            Transient: another try may succeed.
            JudgeError: none will; CutOffError where the answer was too long.
        """
        self.require(status, body, after_s)
        try:
            document = json.loads(body)
            choice = document["choices"][0]
            text, reason = choice["message"]["content"], choice.get("finish_reason")
            usage = document.get("usage") or {}
            tokens = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, ArithmeticError, RecursionError):
            raise Transient(f"its response is not a chat completion: {self.excerpt(body)}") from None
        if reason == "length":
            detail = f"the judge's answer was cut off at {request.max_tokens} tokens"
            raise CutOffError(detail, Answer(text if isinstance(text, str) else "", *tokens))
        if not isinstance(text, str):
            raise Transient(f"its response has no text: {self.excerpt(body)}")
        return Answer(text, *tokens)

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._config.model

    def require(self, status: int, body: str, after_s: float | None) -> None:
        """Require an answer. Raises Transient where another try may succeed, JudgeError where none will."""
        if status in TRANSIENT:
            raise Transient(f"it answered {status}: {self._said(body)}", after_s)
        if status != 200:
            raise JudgeError(f"the judge {self._config.model} answered {status}: {self._said(body)}")

    def clean(self, text: str) -> str:
        """The text without the key, which some endpoints repeat."""
        return text.replace(self._secret, "***") if self._secret else text

    def _said(self, body: str) -> str:
        """The endpoint's own words on what is wrong."""
        try:
            document = json.loads(body)
            error = document.get("error", document)
            message = error.get("message", body) if isinstance(error, dict) else error
        except (ValueError, AttributeError, RecursionError):
            message = body
        return self.excerpt(str(message))

    def excerpt(self, text: str) -> str:
        """The beginning of what an endpoint has sent, without the key."""
        text = self.clean(text)
        return text if len(text) <= 300 else f"{text[:300]}…"
