"""Plain text, as for continued pre-training: FineWeb, C4, Wikipedia."""

from trainer_core.datasets.fields import text_of, with_columns, without
from trainer_core.datasets.shape import Mapped, Shape

_ABOUT = {
    *("id", "url", "title", "source", "meta", "metadata", "date", "timestamp", "created", "added"),
    *("dump", "file_path", "language", "language_score", "token_count", "score", "int_score"),
}
"""Columns about a text. Rows with others, such as a label, ask for something and need a mapping."""


PLAIN_TEXT = Shape(
    name="plain_text",
    title="Plain text (FineWeb, C4)",
    columns="`text`, and columns about it such as `url`",
    mapping=(Mapped("prompt", "`text`"),),
    matches=lambda row: isinstance(row.get("text"), str) and row.keys() <= {"text", *_ABOUT},
    convert=lambda row: with_columns(without(row, "text"), prompt=text_of(row, "text")),
)
