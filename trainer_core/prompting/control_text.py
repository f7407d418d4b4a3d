"""Encodes text in rows that looks like control tokens as text, not as those tokens.

    row ── masked ──► template ──► text ── control tokens become sentinels, masks what they stood for ──► tokenizer

The tokenizer that reads the result knows the control tokens only by their sentinels. So the template's own control
tokens stay tokens, and the same characters in a row are ordinary text; everything else is encoded as before.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from secrets import token_hex
from typing import Any

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
        self._tags = {one["content"] for one in added if one["content"] in thinking_tags}
        found = {one["content"] for one in added if one.get("special")} | self._tags
        self.tokens = sorted(text for text in found if text.strip())
        self._all, self._but_tags = _any_of(self.tokens), _any_of(set(self.tokens) - self._tags)
        # Unknown to the author of the rows.
        nonce = token_hex(8)
        self._sentinels = {text: f"\ue000{nonce}s{index}\ue001" for index, text in enumerate(self.tokens)}
        self._masks = {text: f"\ue000{nonce}m{index}\ue001" for index, text in enumerate(self.tokens)}

    def find(self, row: Mapping[str, Any], chat: bool = False) -> list[str]:
        """The control tokens in a row's prompt or messages as text; in a ``chat`` a prompt is a message."""
        return sorted({token for text, control in self._parts(row, chat) for token in control.findall(text)})

    def mask(self, row: Mapping[str, Any], chat: bool = False) -> dict[str, Any]:
        """The row with masks in place of what ``find`` finds, ready for the template."""
        masked = [control.sub(lambda found: self._masks[found[0]], text) for text, control in self._parts(row, chat)]
        if "messages" not in row:
            return {**row, "prompt": masked[0]}
        messages = [{**message, "content": text} for message, text in zip(row["messages"], masked, strict=True)]
        return {**row, "messages": messages}

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
        """(text, pattern of the control tokens to find in it) of the prompt, or of each message."""
        if "messages" not in row:
            return [(str(row.get("prompt", "")), self._all if chat else self._but_tags)]
        return [
            (str(message["content"]), self._but_tags if message["role"] == SPARED_ROLE else self._all)
            for message in row["messages"]
        ]


def _any_of(texts: Iterable[str]) -> re.Pattern[str]:
    """Matches any of the texts, longer ones first, since one may be a prefix of another. Matches nothing if there are
    none."""
    ordered = sorted(texts, key=lambda text: (-len(text), text))
    return re.compile("|".join(map(re.escape, ordered)) if ordered else r"(?!)")
