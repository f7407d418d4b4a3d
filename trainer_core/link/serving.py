"""Models that the cluster serves to the platform: who asks stands behind the platform, so questions travel on the link.

A worker exchanges answers for further questions as long as it is wanted. Questions of which it does not say that it
holds them are handed out again, so neither a lost answer nor a lost worker loses one.
"""

import base64
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from trainer_core.link.base import Count, Message
from trainer_core.link.judge import JudgeEndpoint

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_AT_ONCE = 64
"""Questions that a worker holds at once."""
EMBEDDING = "embedding"
"""The model of this name makes vectors of texts; all others speak."""


class ServingJob(Message):
    """Models that shall be served."""

    id: str
    models: dict[str, JudgeEndpoint]
    """Models by the names that questions call them; each has a ``model_dir``."""
    lease_s: float
    """The platform believes a worker dead that has not asked for so long."""


class ServedQuestion(Message):
    """A question to one of the models."""

    id: str
    model: str
    """Name of the model in ``ServingJob.models``."""
    messages: tuple[dict[str, str], ...] | None = None
    """A chat, which goes through the model's own template. A question has this, ``prompt`` or ``texts``."""
    prompt: str | None = None
    """A text that is continued as it stands."""
    texts: tuple[str, ...] | None = None
    """Texts of which vectors are made; the answer's text is ``packed``."""
    max_tokens: Annotated[int, Field(ge=1)]
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None


class ServedAnswer(Message):
    """What came of a question: a text, or the reason why there is none."""

    id: str
    """Id of the question."""
    text: str = ""
    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    finish_reason: Literal["stop", "length"] = "stop"
    error: Annotated[str, Field(max_length=2000)] | None = None


class ServingExchange(Message):
    """What a worker has answered, and what it can take."""

    answers: tuple[ServedAnswer, ...] = ()
    holding: Annotated[tuple[str, ...], Field(max_length=MOST_AT_ONCE)] = ()
    """Ids of the questions that it still works on."""
    room: Annotated[int, Field(ge=0, le=MOST_AT_ONCE)] = 0
    """Further questions that it can take."""


class ServingQuestions(Message):
    """The platform's answer to an exchange."""

    questions: tuple[ServedQuestion, ...] = ()


class ServingResult(Message):
    """Why a worker serves no longer. One that is no longer wanted tells nothing: its token opens nothing any more."""

    error: Annotated[str, Field(min_length=1)]


def packed(vectors: "NDArray[np.float16]") -> str:
    """Vectors of shape [texts, size] as text: Base64 of their little-endian half-precision numbers."""
    return base64.b64encode(vectors.astype("<f2").tobytes()).decode()


def unpacked(text: str, texts: int) -> list[list[float]]:
    """The vectors of so many texts that were ``packed``."""
    found: list[list[float]] = np.frombuffer(base64.b64decode(text), "<f2").reshape(texts, -1).astype(float).tolist()
    return found
