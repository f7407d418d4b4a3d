"""Reward workers: decode and score chunks of completions, each within its time. A failure is an error, never a zero."""

from __future__ import annotations

import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

from trainer_core.rewards.definition import RewardDefinition
from trainer_core.rewards.graders.tools import Tools
from trainer_core.rewards.overlong import overlong_punishment
from trainer_core.rewards.score import Sample, Score, score, split_thinking
from trainer_core.spec.reward import OverlongShaping
from trainer_core.spec.thinking import TaggedThinking, Thinking
from worker.chunk import FINISH_REASONS, Chunk
from worker.engine.startup import eos_token_ids
from worker.sandbox import capability
from worker.sandbox.pool import JailPool
from worker.tokenizer import PolicyTokenizer


@dataclass(frozen=True, slots=True)
class RewardConfig:
    """What a reward worker needs to know."""

    definition: RewardDefinition
    thinking: Thinking
    model_dir: Path
    overlong: OverlongShaping | None
    timeout_s: float


@dataclass(frozen=True, slots=True)
class Scored:
    """Text and score of each completion of a chunk."""

    texts: list[str]
    scores: list[Score]
    seconds: float


class _TimeoutError(Exception):
    pass


class RewardWorker:
    """Ray actor, one thread: the timer below interrupts only the main thread, which is where Ray runs its methods."""

    def __init__(self, config: RewardConfig) -> None:
        self._config = config
        self._tokenizer: PolicyTokenizer | None = None
        self._eos: tuple[int, ...] = ()
        self._jail: JailPool | None = None

    def start(self) -> float:
        """Load the tokenizer. Returns the seconds it took."""
        started = time.perf_counter()
        self._tokenizer = PolicyTokenizer(self._config.model_dir)
        self._eos = eos_token_ids(str(self._config.model_dir))
        signal.signal(signal.SIGALRM, _interrupt)
        if self._config.definition.needs_jail:
            capability.require()
            self._jail = JailPool()
            self._jail.start()
        return time.perf_counter() - started

    def score(self, chunk: Chunk, items: Sequence[Mapping[str, Any]], max_tokens: Sequence[int]) -> Scored:
        """Score a chunk.

        Args:
            chunk: whole groups.
            items: the dataset row of each completion, shape [M].
            max_tokens: longest completion when each was dispatched, shape [M]: where the overlong ramp ends.
        """
        started = time.perf_counter()
        if self._tokenizer is None:
            raise RuntimeError("the reward worker was not started")
        texts = self._tokenizer.decode(list(chunk.tokens()), self._eos)
        lengths = (chunk.offsets[1:] - chunk.offsets[:-1]).tolist()
        finish = [FINISH_REASONS[code] for code in chunk.finish.tolist()]
        samples = [self._sample(*row) for row in zip(texts, lengths, finish, strict=True)]
        scores = [self._score(*row) for row in zip(samples, items, max_tokens, strict=True)]
        return Scored(texts, scores, time.perf_counter() - started)

    def _sample(self, text: str, length: int, finish_reason: str) -> Sample:
        thinking, answer = None, text
        if isinstance(self._config.thinking, TaggedThinking):
            thinking, answer = split_thinking(text, self._config.thinking.start, self._config.thinking.end)
        return Sample(
            output_text=text,
            thinking_text=thinking,
            answer_text=answer,
            completion_tokens=length,
            finish_reason=finish_reason,
        )

    def _score(self, sample: Sample, item: Mapping[str, Any], max_tokens: int) -> Score:
        signal.setitimer(signal.ITIMER_REAL, self._config.timeout_s)
        try:
            result = score(self._config.definition, sample, item, Tools(self._jail))
        except _TimeoutError:
            return failed(f"the reward took longer than {self._config.timeout_s:g} s")
        except Exception as error:
            # A grader's bug is this trajectory's error: it is shown, counted, and pauses the run when frequent.
            return failed(f"{type(error).__name__}: {error}")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        overlong = self._config.overlong
        if overlong is None or result.reward is None:
            return result
        punishment = overlong_punishment(sample.completion_tokens, max_tokens, overlong.buffer, overlong.factor)
        return replace(result, reward=result.reward + punishment, parts={**result.parts, "overlong": punishment})


def failed(message: str) -> Score:
    """The score of a trajectory whose reward could not be computed."""
    return Score(reward=None, parts={}, error=message)


def _interrupt(signum: int, frame: FrameType | None) -> None:
    raise _TimeoutError
