"""Reward workers: decode and score chunks of completions within time limits. A failure is an error, never a zero."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trainer_core.episodes import spans
from trainer_core.link.reward import Versions
from trainer_core.rewards.overlong import overlong_punishment
from trainer_core.rewards.parts import OVERLONG_PART
from trainer_core.rewards.score import Sample, Score, split_thinking
from trainer_core.spec.generation.thinking import TaggedThinking, Thinking
from trainer_core.spec.rewards.reward import OverlongShaping
from worker.cluster.private_files import keep_new_files_private
from worker.engine.startup import eos_token_ids
from worker.engine.tokenizer import PolicyTokenizer
from worker.judge.use import Use
from worker.messages.chunk import Chunk
from worker.scoring.equipped import ToolSetup
from worker.scoring.growing import GrowingScorer
from worker.scoring.scorer import Job, failed

__all__ = ["CHUNKS_AT_ONCE", "RewardConfig", "RewardWorker", "Scored", "failed"]

CHUNKS_AT_ONCE = 32
"""Number of chunks that a worker scores at the same time: one that waits for judges does not block the others."""


@dataclass(frozen=True, slots=True)
class RewardConfig:
    """Configuration of a reward worker."""

    versions: Versions
    """Reward versions that it scores with."""
    thinking: Thinking
    model_dir: Path
    overlong: OverlongShaping | None
    timeout_s: float
    tools: ToolSetup = field(default_factory=ToolSetup)
    """Tools in addition to those of the versions."""


@dataclass(frozen=True, slots=True)
class Scored:
    """Text and scores of each completion of a chunk."""

    texts: list[str]
    scores: list[Score]
    seconds: float
    shadows: list[dict[str, Score]] = field(default_factory=list)
    """Scores of each shadow version, by reference; empty, or one entry per completion."""
    judges: Use = field(default_factory=Use)
    """Use of the worker's judges since its last chunk."""
    turns: list[tuple[int, ...]] = field(default_factory=list)
    """Characters of each turn's text; empty, or one entry per completion."""


class RewardWorker:
    """Ray actor with ``CHUNKS_AT_ONCE`` threads."""

    def __init__(self) -> None:
        keep_new_files_private()
        self._tokenizer: PolicyTokenizer | None = None
        self._eos: tuple[int, ...] = ()
        self._configured, self._up = threading.Event(), threading.Event()

    def configure(self, config: RewardConfig) -> None:
        """Set the configuration; call this once. It contains judges' keys, which must not be constructor arguments:
        Ray's head node stores those."""
        self._config = config
        self._configured.set()

    def start(self) -> float:
        """Load the tokenizer and start what the graders need. Returns the seconds it took."""
        started = time.perf_counter()
        self._configured.wait()  # calls are not ordered
        try:
            self._eos = eos_token_ids(str(self._config.model_dir))
            self._benches = GrowingScorer(self._config.versions, self._config.tools, self._config.timeout_s)
            self._tokenizer = PolicyTokenizer(self._config.model_dir)
        finally:
            self._up.set()
        return time.perf_counter() - started

    def equip(self, versions: Versions) -> None:
        """Prepare for these versions too. Raises JailError or StartError with a reason; then nothing has changed."""
        self._up.wait()
        self._benches.equip(versions)

    def score(
        self,
        chunk: Chunk,
        items: Sequence[Mapping[str, Any]],
        max_tokens: Sequence[int],
        versions: Sequence[Sequence[str]],
    ) -> Scored:
        """Score a chunk.

        Args:
            chunk: whole groups.
            items: the dataset row of each completion, shape [M].
            max_tokens: longest allowed completion when each was dispatched, shape [M]: the end of the overlong ramp.
            versions: references of the versions that score each, shape [M]. The first is shaped and used for training;
                the others are its shadows.
        """
        self._up.wait()  # calls are not ordered: this one may arrive while ``start`` is still running
        started = time.perf_counter()
        if self._tokenizer is None:
            raise RuntimeError("the reward worker was not started")
        texts = self._tokenizer.decode(chunk.token_ids(), self._eos)
        lengths = chunk.lengths
        turns, faults = self._turns(chunk), _faults(chunk)
        texts = ["".join(said for _, said in own) or text for text, own in zip(texts, turns, strict=True)]
        samples = [self._sample(*row) for row in zip(texts, lengths, chunk.finish_reasons, turns, strict=True)]
        jobs = [
            Job(self._benches.definition(ref), sample, item)
            for sample, item, refs, fault in zip(samples, items, versions, faults, strict=True)
            for ref in refs
            if fault is None
        ]
        graded = iter([one.score for one in self._benches.score(jobs)])
        by_version = [
            {ref: next(graded) if fault is None else failed(fault) for ref in refs}
            for refs, fault in zip(versions, faults, strict=True)
        ]
        trained = [found.pop(refs[0]) for found, refs in zip(by_version, versions, strict=True)]
        scores = [self._shaped(*row) for row in zip(trained, lengths, max_tokens, strict=True)]
        seconds, use = time.perf_counter() - started, self._benches.use()
        lengths_of_turns = [tuple(len(said) for _, said in own) for own in turns]
        return Scored(texts, scores, seconds, by_version, use, lengths_of_turns)

    def _turns(self, chunk: Chunk) -> list[tuple[tuple[str, str], ...]]:
        """(author, text) of each turn of each completion; empty for completions of one turn."""
        if not chunk.dialogues:
            return [()] * len(chunk)
        assert self._tokenizer is not None
        found: list[tuple[tuple[str, str], ...]] = []
        for ids, dialogue in zip(chunk.token_ids(), chunk.dialogues, strict=True):
            parts = spans(dialogue.turns, len(ids))
            texts = self._tokenizer.decode([ids[start:stop] for _, start, stop in parts], self._eos)
            found.append(tuple(zip([author for author, _, _ in parts], texts, strict=True)))
        return found

    def _sample(self, text: str, length: int, finish_reason: str, turns: tuple[tuple[str, str], ...]) -> Sample:
        last = next((said for author, said in reversed(turns) if author == "policy"), text)
        thinking, answer = None, last
        if isinstance(self._config.thinking, TaggedThinking):
            tags = self._config.thinking
            thinking, answer = split_thinking(last, tags.start, tags.end, tags.answer_start)
        return Sample(
            output_text=text,
            thinking_text=thinking,
            answer_text=answer,
            completion_tokens=length,
            finish_reason=finish_reason,
            turns=turns,
        )

    def _shaped(self, score: Score, length: int, max_tokens: int) -> Score:
        overlong = self._config.overlong
        if overlong is None or score.reward is None:
            return score
        punishment = overlong_punishment(length, max_tokens, overlong.buffer, overlong.factor)
        return replace(score, reward=score.reward + punishment, parts={**score.parts, OVERLONG_PART: punishment})


def _faults(chunk: Chunk) -> list[str | None]:
    """Reason why the environment of each completion failed; None if it did not."""
    return [dialogue.fault for dialogue in chunk.dialogues] if chunk.dialogues else [None] * len(chunk)
