"""Text in rows that looks like control tokens, encoded as text and not as the tokens.

    row ── masked ──► template ──► text ── control tokens become sentinels, masks what they stood for ──► tokenizer

The tokenizer that reads the result knows the control tokens under their sentinels alone. So the template's own control
tokens stay tokens, and the same characters in a row are text like any other; everything else is encoded as ever.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from secrets import token_hex
from typing import Any

SPARED_ROLE = "assistant"
"""Role whose messages keep their thinking tags: they are what the policy itself would have written. So is the end of a
plain prompt, which may open the thinking."""


class ControlText:
    """The control tokens of one tokenizer."""

    def __init__(self, tokenizer: str, thinking_tags: Sequence[str] = ()) -> None:
        """Find the control tokens.

        Args:
            tokenizer: the text of ``tokenizer.json``.
            thinking_tags: tags that count as control tokens too, where the tokenizer has them as tokens.
        """
        self._document = json.loads(tokenizer)
        added = [one for one in self._document.get("added_tokens") or () if one.get("content")]
        self._tags = {one["content"] for one in added if one["content"] in thinking_tags}
        found = {one["content"] for one in added if one.get("special")} | self._tags
        self.tokens = sorted(text for text in found if text.strip())
        self._all, self._but_tags = _any_of(self.tokens), _any_of(set(self.tokens) - self._tags)
        # Unknown to whoever has written the rows.
        nonce = token_hex(8)
        self._sentinels = {text: f"\ue000{nonce}s{index}\ue001" for index, text in enumerate(self.tokens)}
        self._masks = {text: f"\ue000{nonce}m{index}\ue001" for index, text in enumerate(self.tokens)}

    def find(self, row: Mapping[str, Any], chat: bool = False) -> list[str]:
        """The control tokens that stand in a row's prompt or messages as text; in a ``chat`` a prompt is a message."""
        return sorted({token for text, control in self._parts(row, chat) for token in control.findall(text)})

    def mask(self, row: Mapping[str, Any], chat: bool = False) -> dict[str, Any]:
        """The row with masks in the place of what ``find`` finds, for the template to be applied to."""
        masked = [control.sub(lambda found: self._masks[found[0]], text) for text, control in self._parts(row, chat)]
        if "messages" not in row:
            return {**row, "prompt": masked[0]}
        messages = [{**message, "content": text} for message, text in zip(row["messages"], masked, strict=True)]
        return {**row, "messages": messages}

    def sealed(self, text: str) -> str:
        """Text that the template has made of a masked row, for the tokenizer of ``document``."""
        text = self._all.sub(lambda found: self._sentinels[found[0]], text)
        for token, mask in self._masks.items():
            text = text.replace(mask, token)
        return text

    def document(self) -> str:
        """The tokenizer, as ``tokenizer.json`` has it, with the control tokens under their sentinels."""
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
        """(text, the control tokens that are looked for in it) of the prompt, or of each message."""
        if "messages" not in row:
            return [(str(row.get("prompt", "")), self._all if chat else self._but_tags)]
        return [
            (str(message["content"]), self._but_tags if message["role"] == SPARED_ROLE else self._all)
            for message in row["messages"]
        ]


def _any_of(texts: Iterable[str]) -> re.Pattern[str]:
    """Any of the texts, the longer ones first: one may be the beginning of another. Of none: nothing."""
    ordered = sorted(texts, key=lambda text: (-len(text), text))
    return re.compile("|".join(map(re.escape, ordered)) if ordered else r"(?!)")
