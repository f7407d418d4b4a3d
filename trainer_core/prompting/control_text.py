"""Encodes text in rows that looks like control tokens as text, not as those tokens.

    row ── masked ──► template ──► text ── control tokens become sentinels, masks what they stood for ──► tokenizer

The tokenizer that reads the result knows the control tokens only by their sentinels. So the template's own control
tokens stay tokens, and the same characters in a row are ordinary text; everything else is encoded as before.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from secrets import token_hex
from typing import Any

from trainer_core.prompting.tools import tools_of

SPARED_ROLE = "assistant"
"""Role whose messages keep their thinking tags: the policy itself would have written them. The same holds for the end
of a plain prompt, which may open the thinking."""


class ControlText:
    """The control tokens of one tokenizer."""

    def __init__(self, tokenizer: str, thinking_tags: Sequence[str] = ()) -> None:
        """Find the control tokens.

        Args:
            tokenizer: the text of ``tokenizer.json``.
            thinking_tags: tags that also count as control tokens if the tokenizer has them as tokens.
        """
        self._document = json.loads(tokenizer)
        added = [one for one in self._document.get("added_tokens") or () if one.get("content")]
        self.tags = {one["content"] for one in added if one["content"] in thinking_tags}
        found = {one["content"] for one in added if one.get("special")} | self.tags
        self.tokens = sorted(text for text in found if text.strip())
        self._all, self._but_tags = _any_of(self.tokens), _any_of(set(self.tokens) - self.tags)
        # Unknown to the author of the rows.
        nonce = token_hex(8)
        self._sentinels = {text: f"\ue000{nonce}s{index}\ue001" for index, text in enumerate(self.tokens)}
        self._masks = {text: f"\ue000{nonce}m{index}\ue001" for index, text in enumerate(self.tokens)}

    def find(self, row: Mapping[str, Any], chat: bool = False) -> list[str]:
        """The control tokens in a row's prompt, messages or tools as text; in a ``chat`` a prompt is a message."""
        return sorted({token for text, control in self._parts(row, chat) for token in control.findall(text)})

    def mask(self, row: Mapping[str, Any], chat: bool = False) -> dict[str, Any]:
        """The row with masks in place of what ``find`` finds, ready for the template."""
        if not chat and "messages" not in row:
            return {**row, "prompt": self._masked(str(row.get("prompt", "")), self._but_tags)}
        masked = dict(row)
        if tools := tools_of(row):
            masked["tools"] = self._masked(tools, self._all)
        if "messages" not in row:
            return {**masked, "prompt": self._masked(str(row.get("prompt", "")), self._all)}
        return {
            **masked,
            "messages": [
                {
                    name: value if name == "role" else self._masked(value, self._control_in(message))
                    for name, value in message.items()
                }
                for message in row["messages"]
            ],
        }

    def _masked(self, value: Any, control: re.Pattern[str]) -> Any:
        """The value with masks in all texts inside it, keys included."""
        if isinstance(value, str):
            return control.sub(lambda found: self._masks[found[0]], value)
        if isinstance(value, list):
            return [self._masked(one, control) for one in value]
        if isinstance(value, dict):
            return {self._masked(name, control): self._masked(one, control) for name, one in value.items()}
        return value

    def sealed(self, text: str) -> str:
        """The template's text of a masked row, prepared for the tokenizer of ``document``."""
        text = self._all.sub(lambda found: self._sentinels[found[0]], text)
        for token, mask in self._masks.items():
            text = text.replace(mask, token)
        return text

    def document(self) -> str:
        """The tokenizer in the format of ``tokenizer.json``, with the control tokens replaced by their sentinels."""
        document = json.loads(json.dumps(self._document))
        for one in document["added_tokens"]:
            one["content"] = self._sentinels.get(one["content"], one["content"])
        model = document["model"]
        vocabulary = model.get("vocab")
        if isinstance(vocabulary, dict):
            model["vocab"] = {self._sentinels.get(text, text): number for text, number in vocabulary.items()}
        elif isinstance(vocabulary, list):
            model["vocab"] = [[self._sentinels.get(text, text), score] for text, score in vocabulary]
        if model.get("unk_token") in self._sentinels:
            model["unk_token"] = self._sentinels[model["unk_token"]]
        return json.dumps(document)

    def _parts(self, row: Mapping[str, Any], chat: bool) -> list[tuple[str, re.Pattern[str]]]:
        """(text, pattern of the control tokens to find in it) of everything in the row that the template may write."""
        if "messages" not in row and not chat:
            return [(str(row.get("prompt", "")), self._but_tags)]
        parts = [(text, self._all) for text in _texts_in(tools_of(row))]
        if "messages" not in row:
            return [(str(row.get("prompt", "")), self._all), *parts]
        return parts + [
            (text, self._control_in(message))
            for message in row["messages"]
            for name, value in message.items()
            if name != "role"
            for text in _texts_in(value)
        ]

    def _control_in(self, message: Mapping[str, Any]) -> re.Pattern[str]:
        return self._but_tags if message["role"] == SPARED_ROLE else self._all


def _texts_in(value: Any) -> Iterator[str]:
    """All texts inside a value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts_in(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from _texts_in(name)
            yield from _texts_in(one)


def _any_of(texts: Iterable[str]) -> re.Pattern[str]:
    """Matches any of the texts, longer ones first, since one may be a prefix of another. Matches nothing if there are
    none."""
    ordered = sorted(texts, key=lambda text: (-len(text), text))
    return re.compile("|".join(map(re.escape, ordered)) if ordered else r"(?!)")
