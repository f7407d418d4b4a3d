"""The policy's tokenizer: prompts to token ids, thinking tags to token ids, completions to text.

The ``tokenizers`` library does the work. ``transformers`` would add only chat templates, and importing it costs each
process seconds at the start. So it is loaded only for datasets with chats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import TemplateError
from numpy.typing import NDArray
from tokenizers import Tokenizer

from trainer_core.prompting.control_text import ControlText
from trainer_core.prompting.format import present
from trainer_core.prompting.plan import with_text
from trainer_core.prompting.tags import FoundThinking, find_thinking
from trainer_core.prompting.template import read_template, template_sha256
from trainer_core.prompting.tools import COLUMN, tools_of
from trainer_core.spec.data.prompt_format import PLAIN, PromptFormat
from trainer_core.spec.generation.thinking import TaggedThinking, Thinking
from worker.engine import ThinkTokens
from worker.engine.startup import eos_token_ids
from worker.engine.types import EngineError
from worker.errors import StartError

_SAID = "\ue000said\ue001"
"""Stands for the policy's turn when a template is asked what follows it."""


class PolicyTokenizer:
    """The tokenizer in a Hugging Face folder. Code from the folder is never run."""

    def __init__(self, folder: Path) -> None:
        """Read the tokenizer.

        Raises:
            StartError: the folder has no readable ``tokenizer.json``.
        """
        self._folder = folder
        path = folder / "tokenizer.json"
        if not path.is_file():
            raise StartError(f"The policy folder {folder} has no tokenizer.json.")
        self._document = path.read_text()
        try:
            self._backend = _plain(Tokenizer.from_str(self._document))
        except Exception as error:  # the library raises nothing more specific
            raise StartError(f"The policy folder {folder} has no usable tokenizer: {error}") from error

    def encode_rows(
        self, rows: Sequence[Mapping[str, Any]], form: PromptFormat = PLAIN, texts: Sequence[str] | None = None
    ) -> list[NDArray[np.int32]]:
        """Token ids of each row's prompt, each of shape [P].

        A plain prompt is used as it is (with the special tokens that the tokenizer adds). Chats go through the chat
        template, which adds its own special tokens. Text in rows that looks like control tokens stays text unless the
        format says otherwise; the format's own text may contain control tokens.

        Args:
            rows: bare rows.
            form: their source's format.
            texts: a text to append to each prompt.
        """
        behind = [""] * len(rows) if texts is None else texts
        ids: dict[int, NDArray[np.int32]] = {}
        strange = self.control_rows(rows, form.chat) if form.control_tokens == "text" else {}
        for chats, sealed in product((False, True), repeat=2):
            places = [
                place
                for place, row in enumerate(rows)
                if (form.chat or "messages" in row) is chats and (place in strange) is sealed
            ]
            if not places:
                continue
            read = [self._control.mask(rows[place], form.chat) if sealed else rows[place] for place in places]
            prompts = [self.prompt_text(row, form, behind[place]) for row, place in zip(read, places, strict=True)]
            if sealed:
                prompts = [self._control.sealed(prompt) for prompt in prompts]
            backend = self._sealing_backend if sealed else self._backend
            encoded = backend.encode_batch_fast(prompts, add_special_tokens=not chats)
            ids.update((place, np.array(one.ids, np.int32)) for place, one in zip(places, encoded, strict=True))
        return [ids[place] for place in range(len(rows))]

    def encode_answers(
        self, row: Mapping[str, Any], form: PromptFormat, answers: Sequence[Mapping[str, str]]
    ) -> tuple[int, ...]:
        """Token ids between the policy's turn and its next one: the end of that turn, the answers, and the beginning of
        the next. A plain prompt is continued by the answers' text as it is.

        Text in answers that looks like control tokens stays text unless the format says otherwise.

        Args:
            row: the bare row that opened the conversation.
            form: its source's format.
            answers: messages with ``role`` and ``content``.

        Raises:
            StartError: the policy has no chat template, or the template rejects the answers or leaves out turns.
        """
        chats = form.chat or "messages" in row
        talk: dict[str, Any] = {"messages": [dict(answer) for answer in answers]}
        sealed = form.control_tokens == "text" and bool(self._control.find(talk))
        talk = self._control.mask(talk) if sealed else talk
        if chats:
            said = {"role": "assistant", "content": _SAID}
            asked = present({**row, "messages": present(row, form)["messages"]}, PLAIN)
            whole = {**asked, "messages": [*asked["messages"], said, *talk["messages"]]}
            _, found, text = self.rendered(whole, form, begun=True).rpartition(_SAID)
            if not found:
                raise StartError("The policy's chat template leaves out what the policy said: it has one turn only.")
        else:
            text = "".join(answer["content"] for answer in talk["messages"])
        backend = self._sealing_backend if sealed else self._backend
        text = self._control.sealed(text) if sealed else text
        return tuple(backend.encode(text, add_special_tokens=False).ids)

    def masked(
        self, row: Mapping[str, Any], form: PromptFormat, replies: Sequence[str]
    ) -> tuple[dict[str, Any], list[str], bool]:
        """A bare row and the policy's replies to it, ready for ``present`` and ``encode_texts``.

        Replies keep their thinking tags, since the policy itself would have written them. The last value says whether
        anything was masked: all texts made from the row must then be encoded as sealed.
        """
        said = {"messages": [{"role": "assistant", "content": reply} for reply in replies]}
        control = self._control
        if form.control_tokens != "text" or not (control.find(row, form.chat) or control.find(said)):
            return dict(row), list(replies), False
        return control.mask(row, form.chat), [one["content"] for one in control.mask(said)["messages"]], True

    def encode_texts(self, texts: Sequence[str], *, sealed: bool, special: bool) -> list[list[int]]:
        """Token ids of texts.

        Args:
            texts: any texts; masked ones if ``sealed``.
            sealed: whether the texts were made from a row that ``masked`` has masked.
            special: whether to add the special tokens that the tokenizer puts around a plain prompt.
        """
        if sealed:
            texts = [self._control.sealed(text) for text in texts]
        backend = self._sealing_backend if sealed else self._backend
        return [one.ids for one in backend.encode_batch_fast(list(texts), add_special_tokens=special)]

    def control_rows(self, rows: Sequence[Mapping[str, Any]], chat: bool = False) -> dict[int, list[str]]:
        """Texts that look like control tokens, by the index of their row; see ``ControlText.find``."""
        found = {place: self._control.find(row, chat) for place, row in enumerate(rows)}
        return {place: tokens for place, tokens in found.items() if tokens}

    def prompt_text(self, row: Mapping[str, Any], form: PromptFormat = PLAIN, text: str = "") -> str:
        """The text that the policy continues: a bare row in its source's format, with ``text`` after the prompt.

        Raises:
            StartError: the policy has no chat template, or the template rejects the row's messages.
        """
        asked = present(row, form)
        if text:
            asked = with_text(asked, text)
        return self.rendered(asked, form, begun=True) if "messages" in asked else str(asked["prompt"])

    def hidden_tools(self, rows: Sequence[Mapping[str, Any]], form: PromptFormat = PLAIN) -> list[int]:
        """Indices of the rows with tools that the policy is not shown.

        The row is no chat, or the chat template has no place for tools: what it writes is the same without them.
        """
        found, shows = [], None
        for place, row in enumerate(rows):
            if not tools_of(row):
                continue
            if form.chat or "messages" in row:
                if shows is None:
                    bare = {name: value for name, value in row.items() if name != COLUMN}
                    shows = self.prompt_text(row, form) != self.prompt_text(bare, form)
                if shows:
                    continue
            found.append(place)
        return found

    def adds_generation_prompt(self, row: Mapping[str, Any], form: PromptFormat = PLAIN) -> bool:
        """Whether the chat template begins the assistant's turn after it has ended another.

        Also true for a row without messages, for a row whose last message is the assistant's, and for a template that
        ends no turn: the policy then continues the text itself.
        """
        row = present(row, form)
        messages = row.get("messages")
        if not messages or messages[-1]["role"] == "assistant":
            return True
        begun = self.rendered(row, form, begun=True)
        ends_no_turn = begun.rstrip().endswith(str(messages[-1]["content"]).rstrip())
        return ends_no_turn or begun != self.rendered(row, form, begun=False)

    def rendered(self, row: Mapping[str, Any], form: PromptFormat, *, begun: bool) -> str:
        """The messages of a presented row as text; ``begun``: with the start of the assistant's turn.

        Raises:
            StartError: the policy has no chat template, or the template rejects the messages.
        """
        template = self._template
        options: dict[str, bool | str] = {}
        if form.thinking is not None:
            options |= {"enable_thinking": form.thinking, "thinking": form.thinking}
        if form.effort is not None:
            options["reasoning_effort"] = form.effort
        try:
            rendered = template.apply_chat_template(
                row["messages"],
                tools=tools_of(row) or None,
                tokenize=False,
                add_generation_prompt=begun,
                **options,
            )
        except TemplateError as error:
            raise StartError(f"The policy's chat template refuses a row's messages: {error}") from error
        return str(rendered)

    @cached_property
    def template_sha256(self) -> str | None:
        """Hash of the policy's chat template; None if it has none."""
        text = read_template(self._folder)
        return None if text is None else template_sha256(text)

    @property
    def control(self) -> ControlText:
        """Its control tokens."""
        return self._control

    @cached_property
    def eos(self) -> tuple[int, ...]:
        """The policy's end-of-sequence tokens. Empty if its files name none."""
        try:
            return eos_token_ids(str(self._folder))
        except EngineError:  # no config.json
            return ()

    def think_tokens(self, thinking: Thinking) -> ThinkTokens | None:
        """The thinking tags as token ids, or None for a policy that does not think.

        Raises:
            StartError: a tag contains characters outside the vocabulary.
        """
        if not isinstance(thinking, TaggedThinking):
            return None
        end, forced = thinking.end, thinking.forced_end or thinking.end
        return ThinkTokens(self.encode_tag(thinking.start), self.encode_tag(end), self.encode_tag(forced))

    def decode(self, completions: Sequence[NDArray[np.int32]], eos: Sequence[int]) -> list[str]:
        """Completions as text, with tags but without the final end-of-sequence token."""
        ends = set(eos)
        lists = [ids.tolist() for ids in completions]
        trimmed = [ids[:-1] if ids and ids[-1] in ends else ids for ids in lists]
        texts: list[str] = self._backend.decode_batch(trimmed, skip_special_tokens=False)
        return texts

    def text(self, token_ids: Sequence[int]) -> str:
        """Text of some tokens. Bytes that are not a complete character give a replacement character."""
        return str(self._backend.decode(list(token_ids), skip_special_tokens=False))

    def token_text(self, token_id: int) -> str:
        """Text of one token; a token that is only part of a character gives a replacement character."""
        return self.text([token_id])

    def encode_tag(self, tag: str) -> tuple[int, ...]:
        """Token ids of text that is inserted into completions.

        Raises:
            StartError: it contains characters outside the vocabulary.
        """
        ids = tuple(self._backend.encode(tag, add_special_tokens=False).ids)
        unknown = self._backend.token_to_id(getattr(self._backend.model, "unk_token", None) or "")
        if not ids or unknown in ids:
            raise StartError(f"The policy's tokenizer cannot write the thinking tag {tag!r}.")
        return ids

    @property
    def _added(self) -> list[str]:
        """Text of the added tokens."""
        return [token.content for token in self._backend.get_added_tokens_decoder().values()]

    @cached_property
    def thinking(self) -> FoundThinking | None:
        """The policy's thinking tags, if its files show them."""
        return find_thinking(read_template(self._folder), self._added)

    @cached_property
    def _control(self) -> ControlText:
        found = self.thinking
        return ControlText(self._document, () if found is None else (found.start, found.end))

    @cached_property
    def _sealing_backend(self) -> Tokenizer:
        return _plain(Tokenizer.from_str(self._control.document()))

    @cached_property
    def _template(self) -> Any:
        from transformers import PreTrainedTokenizerFast

        loaded = PreTrainedTokenizerFast.from_pretrained(str(self._folder), local_files_only=True)  # nosec B615
        if loaded.chat_template is None:
            raise StartError(f"The data contains chats, but the policy in {self._folder} has no chat template.")
        return loaded


def _plain(backend: Tokenizer) -> Tokenizer:
    """The tokenizer without truncation and padding."""
    backend.no_truncation()
    backend.no_padding()
    return backend
