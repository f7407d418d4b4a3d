"""Interface that the client needs of a judge: one try at one question."""

from dataclasses import dataclass
from typing import Protocol

from trainer_core.rewards.graders.judge import JudgeRequest


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer that came back."""

    text: str
    prompt_tokens: int
    completion_tokens: int


class Endpoint(Protocol):
    """Used by the event loop of one client."""

    async def ask(self, request: JudgeRequest) -> Answer:
        """One try. Raises Transient where another may succeed, and JudgeError where none will."""

    async def close(self) -> None:
        """Give back connections."""
