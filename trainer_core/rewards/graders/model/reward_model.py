"""A learned reward model: a sequence-classification policy gives the completion its number."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.grader_model import GraderModel, Tool
from trainer_core.rewards.reasons import tell
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import field


class RewardModels(Protocol):
    """Reward models by the policy they are stored under. Blocking and thread-safe."""

    def score(self, policy: str, messages: Sequence[Mapping[str, str]]) -> float:
        """The logit of a conversation that ends with the assistant's message. Raises GraderError."""


class RewardModelGrader(GraderModel):
    """The model's logit for the conversation, or its sigmoid."""

    tool: ClassVar[Tool | None] = "models"
    type: Literal["reward_model"] = "reward_model"
    policy: str = field(min_length=1, max_length=200, widget="policy")
    """A policy whose folder holds a sequence-classification model with one output."""
    prompt: str = field("prompt", min_length=1, max_length=200)
    """Field of the dataset row with the prompt; a row with ``messages`` brings its own conversation."""
    text: Literal["answer", "output"] = "answer"
    """What the model sees of the completion: its answer, or all of it with the thinking."""
    scale: Literal["logit", "sigmoid"] = "logit"
    """The model's output as it is, or between 0 and 1."""

    def grade(self, sample: Sample, item: Mapping[str, Any], models: RewardModels | None = None) -> float:
        """A finite number.

        Raises:
            GraderError: there is no such model, it cannot read the conversation, or the row has no prompt.
        """
        if models is None:
            raise GraderError("this grader asks a reward model, which runs only on the cluster")
        answer = sample.answer_text if self.text == "answer" else sample.output_text
        messages = [*_conversation(item, self.prompt), {"role": "assistant", "content": answer}]
        logit = models.score(self.policy, messages)
        tell(f"The model's logit is {logit:.6g}.")
        return logit if self.scale == "logit" else _sigmoid(logit)


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def _conversation(item: Mapping[str, Any], name: str) -> list[dict[str, str]]:
    given = item.get("messages") if name not in item else item[name]
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    if isinstance(given, list) and given and all(isinstance(m, Mapping) and "content" in m for m in given):
        return [{"role": str(m.get("role", "user")), "content": str(m["content"])} for m in given]
    raise GraderError(f"the row has neither a text {name!r} nor messages")
