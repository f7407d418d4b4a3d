"""The chat template in a Hugging Face folder, read as text."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

NAME = "default"
"""The template that is used if a policy has several."""


def read_template(folder: Path) -> str | None:
    """Text of the folder's chat template; None if it has none.

    Raises:
        OSError: a file cannot be read.
        ValueError: ``tokenizer_config.json`` is not JSON.
    """
    file, config = folder / "chat_template.jinja", folder / "tokenizer_config.json"
    if file.is_file():
        return file.read_text()
    if not config.is_file():
        return None
    document = json.loads(config.read_bytes())
    return _text(document.get("chat_template")) if isinstance(document, dict) else None


def template_sha256(template: str) -> str:
    """Hash that identifies a template, in hexadecimal digits."""
    return sha256(template.encode()).hexdigest()


def _text(found: Any) -> str | None:
    if isinstance(found, list):  # [{name, template}]: how older files store several
        named = {one.get("name"): one.get("template") for one in found if isinstance(one, dict)}
        found = named.get(NAME)
    return found if isinstance(found, str) else None
