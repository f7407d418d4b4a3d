"""Rows to examples: tokens as the engine would have produced them, and which of them teach.

    row ── masked, presented, rendered ──► pieces of text, each teaching or not ──► tokens ──► trajectories

The prompt has the tokens that reinforcement learning would put to the engine. A completion is encoded by itself, as the
engine would have written it behind that prompt, and ends with the end of the turn. The assistant's earlier turns are
found by rendering the chat up to each of them, as the policy would have seen it then.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trainer_core.datasets.invisible import is_blank
from trainer_core.episodes import Trajectory
from trainer_core.prompting.examples import (
    Account,
    Encoded,
    columns_of,
    example,
    fault_of,
    whole_text,
    windows,
)
from trainer_core.prompting.format import present
from trainer_core.prompting.tools import tools_of
from trainer_core.spec.data.prompt_format import PLAIN, PromptFormat
from trainer_core.spec.objective import Examples, Preference
from worker.engine.tokenizer import PolicyTokenizer
from worker.errors import StartError
from worker.loop.examples.turns import AssistantTurn, TextPiece, earlier_turns, turn_of

_BATCH = 1024
"""Rows whose texts are tokenised together."""
_NAMED = 5
"""Most rows that a message names."""

Tokens = tuple[NDArray[np.int32], NDArray[np.bool_], int]
"""All tokens, which of them teach, and how many are the prompt's."""


@dataclass(slots=True)
class _RowText:
    """A row as text."""

    number: int
    sealed: bool
    head: list[TextPiece]
    """Pieces of the prompt."""
    replies: list[list[TextPiece]] = field(default_factory=list)


class ExampleEncoder:
    """Encodes rows for one objective. Tokenizers of all kinds; the chat template is the policy's own."""

    def __init__(self, tokenizer: PolicyTokenizer, objective: Examples) -> None:
        """Keep both. Nothing is read before the first row."""
        self._tokenizer = tokenizer
        self._objective = objective
        self._everything = not isinstance(objective, Preference) and objective.learn == "all"
        self._history = not isinstance(objective, Preference) and objective.learn == "assistant"
        self._known: dict[tuple[Any, ...], AssistantTurn] = {}

    def encode(self, rows: Sequence[Mapping[str, Any]], form: PromptFormat = PLAIN) -> Encoded:
        """The examples of rows, and an account of those that are left out, cut or split.

        Trajectories are named by their row: ``7``, ``7-0`` and ``7-1`` if split, ``7-chosen`` and ``7-rejected``.

        Args:
            rows: bare rows.
            form: their source's format.

        Raises:
            StartError: a row is wrong, or too long for an objective that refuses such rows; or no row is left.
        """
        self._refuse_faults(rows, form)
        account = Account(rows=len(rows))
        found: list[tuple[Trajectory, ...]] = [()] * len(rows)
        long: list[tuple[int, int]] = []
        for start in range(0, len(rows), _BATCH):
            batch = enumerate(rows[start : start + _BATCH], start)
            written = [one for number, row in batch if (one := self._read(number, row, form, account))]
            for one, sequences in zip(written, self._tokens(written), strict=True):
                size = max(len(ids) for ids, _, _ in sequences)
                account.longest = max(account.longest, size)
                if size > self._objective.max_tokens:
                    account.too_long += 1
                    long.append((one.number, size))
                found[one.number] = self._examples(one.number, sequences, account)
        if long and self._objective.overlong == "refuse":
            raise StartError(self._too_long(long))
        for examples in found:
            account.dropped += not examples
            account.examples += 1 if examples and isinstance(self._objective, Preference) else len(examples)
            account.tokens += sum(len(one.prompt_ids) + one.length for one in examples)
            account.taught += sum(int(one.sampled.sum()) for one in examples)
        if rows and account.dropped == len(rows):
            raise StartError(f"No row is left to learn from. {' '.join(account.sentences())}")
        return Encoded(found, account)

    def _refuse_faults(self, rows: Sequence[Mapping[str, Any]], form: PromptFormat) -> None:
        faults = ((number, fault_of(row, self._objective, form)) for number, row in enumerate(rows))
        wrong = [(number, fault) for number, fault in faults if fault is not None]
        if wrong:
            number, fault = wrong[0]
            more = f" {len(wrong) - 1} more rows cannot be learned either." if len(wrong) > 1 else ""
            raise StartError(f"Row {number} cannot be learned. {fault}{more}")

    def _too_long(self, long: Sequence[tuple[int, int]]) -> str:
        named = ", ".join(f"row {number} ({size} tokens)" for number, size in long[:_NAMED])
        more = f" and {len(long) - _NAMED} more" if len(long) > _NAMED else ""
        longest = max(size for _, size in long)
        others = "drop" if isinstance(self._objective, Preference) else "drop, cut or split"
        return (
            f"Longer than objective.max_tokens ({self._objective.max_tokens}): {named}{more}. Raise it to {longest}, or"
            f" set objective.overlong to {others}."
        )

    def _read(self, number: int, row: Mapping[str, Any], form: PromptFormat, account: Account) -> _RowText | None:
        """The row as pieces of text; None if it has nothing to teach."""
        try:
            return self._written(number, row, form, account)
        except StartError as error:
            raise StartError(f"Row {number} cannot be learned. {error}") from error

    def _written(self, number: int, row: Mapping[str, Any], form: PromptFormat, account: Account) -> _RowText | None:
        plain = whole_text(row, self._objective, form)
        given = [] if plain else [str(row[column]) for column in columns_of(self._objective)]
        if any(map(is_blank, given)):
            account.warn("blank", number)
            return None
        masked, replies, sealed = self._tokenizer.masked(row, form, given)
        if replies != given:
            account.warn("control", number)
        shown = present(masked, form)
        chat = "messages" in shown
        text = self._tokenizer.rendered(shown, form, begun=True) if chat else str(shown["prompt"])
        turn = self._turn(shown, form)
        if not (turn.end or turn.then):
            account.warn("unended", number)
        if form.control_tokens == "tokens":
            text = self._unended(text, turn) if plain else text
            replies = [self._unended(reply, turn) for reply in replies]
        if plain:
            return _RowText(number, sealed, [TextPiece(text, True, special=True, then=turn.then)], [[]])
        head = [TextPiece(text, self._everything, special=not chat)]
        if self._history and chat:
            pieces, warnings = earlier_turns(self._tokenizer, shown, form, text, turn)
            head = pieces or head
            for kind in warnings:
                account.warn(kind, number)
        written = _RowText(number, sealed, head)
        for reply in replies:
            said = self._continued(number, text, reply, account)
            said = said if said.startswith(turn.head) else f"{turn.head}{said}"
            written.replies.append([TextPiece(said, True), TextPiece(turn.end, True, then=turn.then)])
        return written

    def _turn(self, shown: Mapping[str, Any], form: PromptFormat) -> AssistantTurn:
        """The turn around a completion. Templates may make it depend on the roles before it, and on tools."""
        roles = tuple(message["role"] for message in shown.get("messages", ()))
        key = (form, roles, bool(tools_of(shown)))
        if key not in self._known:
            self._known[key] = turn_of(self._tokenizer, shown, form)
        return self._known[key]

    def _unended(self, said: str, turn: AssistantTurn) -> str:
        """The text without the end of the turn that a template has already written."""
        for text in (turn.end, *map(self._tokenizer.token_text, turn.then)):
            if text and said.rstrip().endswith(text.rstrip()):
                return said.rstrip().removesuffix(text.rstrip())
        return said

    def _continued(self, number: int, prompt: str, reply: str, account: Account) -> str:
        """The completion as the policy would continue the prompt, which may have opened the thinking already."""
        tags = self._tokenizer.thinking
        if tags is None or not prompt.rstrip().endswith(tags.start):
            return reply
        if tags.end not in reply:
            account.warn("unclosed", number)
        if not reply.lstrip().startswith(tags.start):
            return reply
        account.warn("reopened", number)
        rest = reply.lstrip().removeprefix(tags.start)
        return rest.removeprefix("\n") if prompt.endswith("\n") else rest

    def _tokens(self, written: Sequence[_RowText]) -> list[list[Tokens]]:
        """The tokens of each row's sequences: one, or two of a pair."""
        ids = self._encoded(written)
        return [
            [self._joined([*one.head, *reply], len(one.head), one.sealed, ids) for reply in one.replies]
            for one in written
        ]

    def _joined(
        self, pieces: Sequence[TextPiece], head: int, sealed: bool, ids: Mapping[tuple[bool, bool, str], list[int]]
    ) -> Tokens:
        parts = [[*ids[sealed, piece.special, piece.text], *piece.then] for piece in pieces]
        teaches = np.repeat([piece.teaches for piece in pieces], [len(part) for part in parts])
        if self._everything:
            prompt = 1
        else:
            taught = np.flatnonzero(teaches)
            prompt = int(taught[0]) if len(taught) else sum(map(len, parts[:head]))
        return np.array([number for part in parts for number in part], np.int32), teaches, max(prompt, 1)

    def _encoded(self, written: Sequence[_RowText]) -> dict[tuple[bool, bool, str], list[int]]:
        """Token ids of all texts, by whether they are sealed, whether special tokens are added, and the text."""
        asked: defaultdict[tuple[bool, bool], dict[str, None]] = defaultdict(dict)
        for one in written:
            for piece in (*one.head, *(piece for reply in one.replies for piece in reply)):
                asked[one.sealed, piece.special][piece.text] = None
        found = {}
        for (sealed, special), texts in asked.items():
            encoded = self._tokenizer.encode_texts(list(texts), sealed=sealed, special=special)
            found.update({(sealed, special, text): ids for text, ids in zip(texts, encoded, strict=True)})
        return found

    def _examples(self, number: int, sequences: Sequence[Tokens], account: Account) -> tuple[Trajectory, ...]:
        if isinstance(self._objective, Preference):
            return self._pair(number, sequences, account)
        [(ids, teaches, prompt)] = sequences
        most, long = self._objective.max_tokens, self._objective.overlong
        if len(ids) <= most or long == "cut":
            short = ids[:most]
            if not teaches[prompt:most].any():
                account.cut += len(ids) > most
                account.warn("untaught", number)
                return ()
            account.cut += len(ids) > most
            return (example(f"{number}", short, teaches[:most], prompt, whole=len(ids) <= most),)
        if long != "split":
            return ()
        parts = tuple(windows(f"{number}", ids, teaches, prompt, most))
        account.split += 1
        if not parts:
            account.warn("untaught", number)
        return parts

    def _pair(self, number: int, sequences: Sequence[Tokens], account: Account) -> tuple[Trajectory, ...]:
        [better, worse] = sequences
        if max(len(better[0]), len(worse[0])) > self._objective.max_tokens:
            return ()
        (ours, _, prompt), (theirs, _, _) = better, worse
        same = np.array_equal(ours, theirs)
        if same or not np.array_equal(ours[:prompt], theirs[:prompt]):
            account.warn("equal" if same else "untaught", number)
            return ()
        return tuple(
            example(f"{number}-{side}", *tokens, whole=True)
            for side, tokens in (("chosen", better), ("rejected", worse))
        )
