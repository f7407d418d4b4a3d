"""Calls environments beside an engine: in threads, with jails and the policy's tokenizer."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from trainer_core.episodes import Author, Turn
from worker.engine.startup import eos_token_ids
from worker.engine.tokenizer import PolicyTokenizer
from worker.environments.python_file import EnvironmentFault, respond
from worker.errors import StartError
from worker.messages.episode import Dialogue, EpisodeTask, Message
from worker.scoring.jails import Jails

logger = logging.getLogger(__name__)

MOST_JAILS = 8


@dataclass(frozen=True, slots=True)
class Reply:
    """The continuation of an episode after a turn of the policy."""

    dialogue: Dialogue
    """The conversation with the policy's turn and what answers it."""
    token_ids: tuple[int, ...] = ()
    """Tokens to append before the policy's next turn; empty if the episode has ended."""


class EnvironmentHost:
    """Environments of one rollout worker. Thread-safe."""

    def __init__(self, model_dir: Path) -> None:
        """Read the tokenizer of the policy's folder, and start a jail.

        Raises:
            JailError: this machine has no strong jail.
            StartError: the folder has no usable tokenizer.
        """
        self._tokenizer = PolicyTokenizer(model_dir)
        self._ends = tuple(eos_token_ids(str(model_dir)))
        width = max(1, min(MOST_JAILS, os.cpu_count() or 1))
        self._jails = Jails(width, packages=False)
        self._jails.start()
        self._threads = ThreadPoolExecutor(width, "environment")

    def submit(
        self, task: EpisodeTask, dialogue: Dialogue, token_ids: Sequence[int], answer: Callable[[Reply], object]
    ) -> None:
        """Have a turn answered; ``answer`` is called with the reply from another thread.

        Args:
            task: the environment and its row.
            dialogue: the conversation up to the policy's current turn.
            token_ids: the completion so far, which ends with that turn.
        """
        self._threads.submit(self._answer, task, dialogue, token_ids, answer)

    def _answer(
        self, task: EpisodeTask, dialogue: Dialogue, token_ids: Sequence[int], answer: Callable[[Reply], object]
    ) -> None:
        try:
            reply = self.reply(task, dialogue, token_ids)
        except Exception as error:  # an episode without a reply would be waited for without end
            logger.exception("an environment's reply could not be made")
            reply = Reply(replace(dialogue, waiting=False, fault=f"The reply could not be made: {error!r}"))
        answer(reply)

    def reply(self, task: EpisodeTask, dialogue: Dialogue, token_ids: Sequence[int]) -> Reply:
        """The continuation after the policy's turn. An environment that fails ends the episode, with the fault."""
        start = dialogue.turns[-1].start
        [said] = self._tokenizer.decode([np.array(token_ids[start:], np.int32)], self._ends)
        messages = (*dialogue.messages, {"role": "assistant", "content": said})
        told = replace(dialogue, messages=messages, waiting=False)
        try:
            if dialogue.policy_turns >= task.environment.max_turns:
                return Reply(told)
            answers = respond(task.environment, task.item, [*_opening(task.item), *messages], self._jails)
            if not answers:
                return Reply(told)
            ids = self._tokenizer.encode_answers(task.item, task.form, answers)
        except (EnvironmentFault, StartError) as error:
            return Reply(replace(told, fault=f"The environment failed: {error}"))
        if token_ids and token_ids[-1] in self._ends and ids[:1] == (token_ids[-1],):
            ids = ids[1:]  # the policy has ended its turn itself
        begun = len(token_ids)
        turns = (*told.turns, Turn(_author(answers), begun), Turn("policy", begun + len(ids)))
        return Reply(replace(told, turns=turns, messages=(*messages, *answers)), ids)

    def close(self) -> None:
        """End the jails. Replies in progress are dropped."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._jails.close()


def _opening(item: Mapping[str, Any]) -> list[Message]:
    """The row's prompt as messages."""
    messages = item.get("messages")
    return list(messages) if messages else [{"role": "user", "content": str(item.get("prompt", ""))}]


def _author(answers: Sequence[Message]) -> Author:
    return "tool" if all(message["role"] == "tool" for message in answers) else "user"
