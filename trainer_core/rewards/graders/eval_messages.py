"""OpenAI's messages to a model grader: roles, and text that may hold templates."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import field_validator

from trainer_core.rewards.graders.template import check_template, render
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import SpecModel, field


class TextContent(SpecModel):
    """A piece of text. Images and audio are refused."""

    type: Literal["input_text", "output_text"] = "input_text"
    text: str = field(max_length=50_000)
    """Template of the text."""

    _templates = field_validator("text")(check_template)


class EvalMessage(SpecModel):
    """One message."""

    role: Literal["user", "assistant", "system", "developer"] = "user"
    """Who speaks."""
    content: str | TextContent | tuple[TextContent | str, ...] = field(max_length=50_000)
    """Template of the text, or pieces of it."""
    type: Literal["message"] = "message"

    @field_validator("content")
    @classmethod
    def _templates(cls, content: Any) -> Any:
        for piece in _pieces(content):
            if isinstance(piece, str):
                check_template(piece)
        return content


def rendered(messages: Sequence[EvalMessage], sample: Sample, item: Mapping[str, Any]) -> list[dict[str, str]]:
    """Chat messages with their templates filled in. Raises GraderError and NoJsonError as ``render`` does."""
    return [
        {"role": message.role, "content": "".join(render(_text(p), sample, item) for p in _pieces(message.content))}
        for message in messages
    ]


def _pieces(content: str | TextContent | tuple[TextContent | str, ...]) -> tuple[TextContent | str, ...]:
    return content if isinstance(content, tuple) else (content,)


def _text(piece: TextContent | str) -> str:
    return piece if isinstance(piece, str) else piece.text
