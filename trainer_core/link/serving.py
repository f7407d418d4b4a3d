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


class ServingGateway(Message):
    """How a policy is served over HTTP."""

    key_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """Hash of the key that requests need, in hexadecimal digits. The key itself never reaches the cluster."""
    idle_s: Annotated[float, Field(gt=0)]
    """Seconds without a request after which the worker ends the serving."""


class ServingJob(Message):
    """Models that shall be served."""

    id: str
    models: dict[str, JudgeEndpoint]
    """Models by the names that questions call them; each has a ``model_dir``."""
    lease_s: float
    """The platform believes a worker dead that has not asked for so long."""
    gateway: ServingGateway | None = None
    """Set if the one model is served over HTTP to clients, rather than over the link to the platform."""


class ServingProgress(Message):
    """What a worker reports while it serves over HTTP."""

    base_url: Annotated[str, Field(pattern=r"^http://[0-9A-Za-z.:\[\]-]+/v1$", max_length=300)]
    """Address of the API for clients, up to its version."""


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
    """Why a worker no longer serves. One that is no longer wanted reports nothing: its token gives no access."""

    error: Annotated[str, Field(min_length=1)] | None
    """None: it has ended a policy served over HTTP because no client used it any more."""


def packed(vectors: "NDArray[np.float16]") -> str:
    """Vectors of shape [texts, size] as text: Base64 of their little-endian half-precision numbers."""
    return base64.b64encode(vectors.astype("<f2").tobytes()).decode()


def unpacked(text: str, texts: int) -> list[list[float]]:
    """The vectors of so many texts that were ``packed``."""
    found: list[list[float]] = np.frombuffer(base64.b64decode(text), "<f2").reshape(texts, -1).astype(float).tolist()
    return found
