"""Dressage's own rows, which are also TRL's prompt-only rows."""

from trainer_core.datasets.shape import Shape

OWN = Shape(
    name="own",
    title="Dressage rows (TRL prompt-only)",
    columns="`prompt` (text), or `messages` (a chat)",
    mapping=(),
    matches=lambda row: "prompt" in row or "messages" in row,
    convert=lambda row: row,  # checked like all others, after mapping
)
