"""Faults that are planted into the metrics of a healthy run, each with the incident that is to be named."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from tests.support.incident_runs import Change, Metrics
from trainer_core.diagnosis.incidents import Incident, Sign
from trainer_core.diagnosis.incidents.incident import Kind

_HELD_OUT = "/score/mean"
"""End of the names of held-out scores."""


def _as_it_is(metrics: Metrics, age: int) -> Metrics:
    return metrics


@dataclass(frozen=True)
class Plant:
    """A fault."""

    name: str
    kind: Kind
    words: str
    """Part of the title or cause, without which it is not named."""
    change: Change = _as_it_is
    alert: tuple[str, str] | None = None
    """(code, message) of what the worker tells in the first step of the fault; the code that tells it has tests."""

    def alerts(self, step: int) -> tuple[Sign, ...]:
        """What the worker tells of it at ``step``."""
        if self.alert is None:
            return ()
        code, message = self.alert
        return (Sign("alert", code, "error", step, None, message),)

    def is_named(self, found: Incident) -> bool:
        """Whether the incident tells of it in its title or cause."""
        return self.words in f"{found.title} {found.cause}"


def _set(**values: float) -> Change:
    return lambda metrics, age: metrics | {name.replace("__", "/"): value for name, value in values.items()}


def _times(factor: float, *names: str) -> Change:
    return lambda metrics, age: metrics | {name: metrics[name] * factor for name in names}


def _collapse(metrics: Metrics, age: int) -> Metrics:
    """The entropy halves with each step, and groups die with it."""
    return metrics | {"actor/entropy": metrics["actor/entropy"] * max(0.01, 0.5**age)}


def _where(ends: str, change: Callable[[float], float]) -> Change:
    """Changes the metrics that are reported in the step and whose names end so."""
    return lambda metrics, age: {
        name: change(value) if name.startswith("eval/") and name.endswith(ends) else value
        for name, value in metrics.items()
    }


def _memorised(metrics: Metrics, age: int) -> Metrics:
    """What is held out gets worse by the half, while the reward of training rises."""
    reward = 1.0 - (1.0 - metrics["critic/score/mean"]) / 2
    return _where(_HELD_OUT, lambda score: score / 2)(metrics, age) | {"critic/score/mean": reward}


def _template(metrics: Metrics, age: int) -> Metrics:
    """Prompts are tokenised anew, otherwise: a rescoring, which comes every 20 steps, shows it."""
    name = "rollout_corr/cause/template"
    return metrics | ({name: 0.3} if name in metrics else {})


PLANTS: tuple[Plant, ...] = (
    Plant("stale LM head", "weights", "before the last update",
          alert=("weights_differ", "the engine's answers lack 98% of what version 6 did not yet have")),
    Plant("corrupted weights", "weights", "differ from those that the learner published",
          alert=("weights_differ", "1 of 80 tensors in the engine is not as published: lm_head.weight")),
    Plant("NaN log-probabilities", "not_finite", "log-probabilities are not finite",
          _set(rollout_corr__training_ppl=math.nan, rollout_corr__k3_kl=math.nan, actor__entropy=math.nan)),
    Plant("NaN log-probabilities of the engine alone", "not_finite", "The engine's own",
          _set(rollout_corr__rollout_ppl=math.nan)),
    Plant("prompts tokenised twice, or by another template", "template", "render prompts differently", _template),
    Plant("engine and learner disagree", "mismatch", "staleness", _set(rollout_corr__k3_kl=0.4)),
    Plant("reward 0 by an exception", "reward_errors", "KeyError", _set(reward__forgiven_share=1.0),
          alert=("reward_error", "32 of this step, counted as 0: KeyError: 'answer'")),
    Plant("rewards that fail", "reward_errors", "Rewards cannot be computed", _set(reward__error_share=0.2)),
    Plant("entropy collapse", "entropy", "collapsed", _collapse),
    Plant("dead groups", "no_signal", "no signal", _set(groups__zero_advantage_share=1.0)),
    Plant("length runaway", "length", "limit", _set(response_length__clip_ratio=0.8)),
    Plant("gradient spike", "gradient", "far above", _times(30.0, "actor/grad_norm")),
    Plant("held-out reward falls", "held_out", "does not transfer", _memorised),
    Plant("judge pays for length", "judge_bias", "the judge grades longer", _set(reward__length_bias=0.5)),
    Plant("slow steps", "slow", "generation",
          lambda metrics, age: metrics | {"timing_s/generate": metrics["timing_s/generate"] + 5.0,
                                          "timing_s/step": metrics["timing_s/step"] + 5.0}),
    Plant("a checkpoint that is not written", "not_saved", "No space left",
          alert=("not_saved", "OSError: No space left on device")),
    Plant("a process that dies", "restart", "died", alert=("process_died", "Engine 1 died; it is replaced.")),
)  # fmt: skip
