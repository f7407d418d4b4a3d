"""OpenAI's messages to a model grader: roles, and text that may hold templates."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from trainer_core.rewards.graders.template import check_template, render
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import SpecModel

Text = Annotated[str, Field(max_length=50_000)]


class TextContent(SpecModel):
    """A piece of text. Images and audio are refused."""

    type: Literal["input_text", "output_text"] = "input_text"
    """Whether the text asks or answers; both are shown to the judge alike."""
    text: Text
    """Template of the text."""

    _templates = field_validator("text")(check_template)


class EvalMessage(SpecModel):
    """One message."""

    role: Literal["user", "assistant", "system", "developer"] = "user"
    """Who speaks."""
    content: Text | TextContent | tuple[TextContent | Text, ...]
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


def template_texts(messages: Sequence[EvalMessage]) -> Iterator[str]:
    """All templates of messages."""
    return (_text(piece) for message in messages for piece in _pieces(message.content))


def _pieces(content: str | TextContent | tuple[TextContent | str, ...]) -> tuple[TextContent | str, ...]:
    return content if isinstance(content, tuple) else (content,)


def _text(piece: TextContent | str) -> str:
    return piece if isinstance(piece, str) else piece.text
