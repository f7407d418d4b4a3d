"""The chat template in a Hugging Face folder, read as text."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

NAME = "default"
"""The template that is used where a policy brings several."""


def read_template(folder: Path) -> str | None:
    """Text of the folder's chat template; None where it has none.

    Raises:
        OSError: a file cannot be read.
        ValueError: ``tokenizer_config.json`` is no JSON.
    """
    file, config = folder / "chat_template.jinja", folder / "tokenizer_config.json"
    if file.is_file():
        return file.read_text()
    if not config.is_file():
        return None
    document = json.loads(config.read_bytes())
    return _text(document.get("chat_template")) if isinstance(document, dict) else None


def template_sha256(template: str) -> str:
    """Hash by which a template is known, in hexadecimal digits."""
    return sha256(template.encode()).hexdigest()


def _text(found: Any) -> str | None:
    if isinstance(found, list):  # [{name, template}], as older files have several
        named = {one.get("name"): one.get("template") for one in found if isinstance(one, dict)}
        found = named.get(NAME)
    return found if isinstance(found, str) else None
