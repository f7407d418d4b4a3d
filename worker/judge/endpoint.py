"""Interface of a judge that the client uses: one try at one question."""

from typing import Protocol

from trainer_core.link.judge_chat import Answer
from trainer_core.rewards.graders.model.judge import JudgeRequest


class Endpoint(Protocol):
    """Used by the event loop of one client."""

    async def ask(self, request: JudgeRequest) -> Answer:
        """One try. Raises Transient if another may succeed, and JudgeError if none will."""

    async def close(self) -> None:
        """Close connections."""
