"""The course of a run as a whole: no step has updated the policy, the policy has collapsed, answers are all cut, or
rows are learned by heart.

Guards watch one metric and are the user's. These are checked in every run, because such a run would otherwise end as if
all had gone well.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from trainer_core.steering.guard_checks import solved
from trainer_core.steering.guards import Alert, Calm
from trainer_core.steering.held_out import held_out_losses, held_out_score

NO_UPDATE: Final = "no update"
COLLAPSE: Final = "collapse"
CUT: Final = "answers cut"
OVERFITS: Final = "overfits"
TITLES: Final[Mapping[str, str]] = {
    NO_UPDATE: "No step has updated the policy",
    COLLAPSE: "The policy has collapsed",
    CUT: "Nearly all answers are cut",
    OVERFITS: "The policy learns its rows by heart",
}
"""Names by which health and incidents know these, with their titles."""
_GRADIENT: Final = "actor/grad_norm"
_METRICS: Final[Mapping[str, str]] = {
    NO_UPDATE: "groups/zero_advantage_share",
    COLLAPSE: "critic/score/mean",
    CUT: "response_length/clip_ratio",
    OVERFITS: "sft/loss",
}
WINDOW = 5
"""Steps before a running run is judged, and over which its recent reward and its cut answers are averaged."""
NEARLY_ALL = 0.95
"""Share of cut answers from which it is nearly all of them."""
_LEAST_ANSWERS = 8
_LOST = 0.5
"""Share of its height above the worst reward seen that a score must lose to have collapsed."""
_BEYOND = 2.0
"""Standard errors that each of the two falls must exceed. Both must, so chance alone hardly ever suffices."""

_RISEN = 1.1
"""Held-out loss, as a multiple of its best, above which the policy learns its rows by heart."""

Mean = tuple[float, float]
"""A mean, and its standard error."""


@dataclass(slots=True)
class _Seen:
    """Facts of a run so far. JSON-able, as the checkpoint stores it."""

    steps: int = 0
    updates: int = 0
    first: int = 1
    """The first step seen."""
    dead: float = 0.0
    """Sum over the steps of the share of groups without a signal."""
    failed: float = 0.0
    """Sum over the steps of the share of rewards that could not be computed."""
    reward: str = ""
    """The reward version by which the following are scored."""
    start: Mean | None = None
    """Reward of the first step."""
    floor: float = math.inf
    """The worst reward of a sample."""
    recent: list[Mean] = field(default_factory=list)
    """Rewards of the newest steps, without the first."""
    held_out: Mean | None = None
    """The first evaluation."""
    held_out_now: Mean | None = None
    """The newest later evaluation."""
    cut: list[tuple[float, float, float]] = field(default_factory=list)
    """(cut answers, answers, their limit) of the newest steps."""
    cut_since: int | None = None
    """First of the consecutive steps whose answers were nearly all cut."""
    rows: bool = False
    """Whether the run learns from rows, as its metrics show."""
    losses: list[float] = field(default_factory=list)
    """Supervised losses of the newest steps."""
    best: dict[str, tuple[float, float | None]] = field(default_factory=dict)
    """Lowest held-out loss of each source, by its metric, and the training loss at that time; None: not known yet."""
    loss_now: dict[str, float] = field(default_factory=dict)
    """Newest held-out loss of each source."""
    solved: bool = False
    """Whether nearly all samples of the newest step succeed."""
    told: dict[str, tuple[int, str, str]] = field(default_factory=dict)
    """First step, message and severity of each report that is not over."""


class RunCourse:
    """Judges a run from its steps and evaluations. Used only by the loop's thread."""

    def __init__(self, run: str) -> None:
        """``run`` is the run's id: a fork does not inherit the course of its parent."""
        self._run, self._seen = run, _Seen()

    def step(self, step: int, metrics: Mapping[str, float], *, samples: int, reward: str, rests: bool = False) -> None:
        """Take in a finished step.

        Args:
            step: its number, from 1.
            metrics: as reported.
            samples: answers in its batch.
            reward: the reward version that scored it. Scores of different versions are never compared. Empty for a run
                that learns from rows.
            rests: whether the policy is not to be updated in this step, because a critic warms up.
        """
        seen = self._seen
        if not rests:
            self._updates(step, metrics)
        if reward != seen.reward:
            if seen.reward:
                seen.held_out = seen.held_out_now = None
            seen.reward, seen.start, seen.floor, seen.recent = reward, None, math.inf, []
        self._rewards(metrics, samples)
        self._losses(metrics)
        cut = metrics.get("response_length/clip_ratio", 0.0)
        limit = metrics.get("response_length/window", 0.0)
        seen.cut = [*seen.cut, (cut * samples, float(samples), limit)][-WINDOW:]
        seen.cut_since = (seen.cut_since or step) if cut >= NEARLY_ALL else None
        seen.solved = solved(metrics)

    def evaluation(self, metrics: Mapping[str, float]) -> None:
        """Take in an evaluation, scored by the reward version of the steps around it."""
        self._held_out_losses(metrics)
        score = held_out_score(metrics)
        if score is None or not all(map(math.isfinite, score)):
            return
        if self._seen.held_out is None:
            self._seen.held_out = score
        else:
            self._seen.held_out_now = score

    def news(self, step: int, *, last: bool = False) -> list[Alert | Calm]:
        """Findings that have begun, grown worse or ended since the last call.

        Args:
            step: the newest step.
            last: whether the run is over. Then a short run is judged, too, and one without an update is an error.
        """
        found = self._found(step, last)
        news: list[Alert | Calm] = []
        told = self._seen.told
        for name in [name for name in told if name not in found]:
            since, _, _ = told.pop(name)
            news.append(Calm(name, self._metric(name), since, f"{TITLES[name]}: no longer, as of step {step}."))
        for name, alert in found.items():
            before = told.get(name)
            told[name] = (alert.since if before is None else before[0], alert.message, alert.severity)
            if before is None or (last and before[1:] != (alert.message, alert.severity)):
                news.append(alert)
        return news

    @property
    def sentences(self) -> list[str]:
        """The messages of what was reported and is not over."""
        return [message for _, message, _ in self._seen.told.values()]

    def state(self) -> dict[str, Any]:
        """State for the checkpoint."""
        seen = {name: getattr(self._seen, name) for name in _Seen.__slots__}
        return {"run": self._run, **seen, "floor": None if math.isinf(self._seen.floor) else self._seen.floor}

    def load(self, state: Mapping[str, Any] | None, steps: int) -> None:
        """Restore from a checkpoint.

        Args:
            state: what ``state`` returned. Another run's is dropped: a fork starts its own course.
            steps: steps of the checkpoint. If it is an older one without a state, they count as updates.
        """
        if state is None:
            self._seen = _Seen(steps=steps, updates=steps)
        elif state["run"] == self._run:
            known = {name: state[name] for name in _Seen.__slots__ if name in state}
            seen = _Seen(**{**known, "floor": math.inf if state["floor"] is None else state["floor"]})
            seen.told = {name: (since, message, how) for name, (since, message, how) in seen.told.items()}
            seen.best = {name: (best, then) for name, (best, then) in seen.best.items()}
            self._seen = seen

    # ── the judgements ──

    def _metric(self, name: str) -> str:
        return _GRADIENT if name == NO_UPDATE and self._seen.rows else _METRICS[name]

    def _updates(self, step: int, metrics: Mapping[str, float]) -> None:
        seen = self._seen
        if not seen.steps:
            seen.first = step
        seen.steps += 1
        # A gradient of zero teaches nothing, even where weight decay moves the weights.
        seen.updates += metrics.get("actor/grad_norm", 0.0) > 0.0
        seen.dead += metrics.get("groups/zero_advantage_share", 0.0)
        seen.failed += metrics.get("reward/error_share", 0.0)

    def _rewards(self, metrics: Mapping[str, float], samples: int) -> None:
        seen, mean = self._seen, metrics.get("critic/score/mean", math.nan)
        error = metrics.get("critic/score/std", math.nan) / math.sqrt(max(1, samples))
        worst = metrics.get("critic/score/min", math.nan)
        if not (math.isfinite(mean) and math.isfinite(error) and math.isfinite(worst)):
            return
        seen.floor = min(seen.floor, worst)
        if seen.start is None:
            seen.start = (mean, error)
        else:
            seen.recent = [*seen.recent, (mean, error)][-WINDOW:]

    def _losses(self, metrics: Mapping[str, float]) -> None:
        seen, loss = self._seen, metrics.get("sft/loss", math.nan)
        seen.rows = seen.rows or "sft/loss" in metrics or "preference/loss" in metrics
        if not math.isfinite(loss):
            return
        if not seen.losses:
            seen.best = {name: (best, loss if then is None else then) for name, (best, then) in seen.best.items()}
        seen.losses = [*seen.losses, loss][-WINDOW:]

    def _held_out_losses(self, metrics: Mapping[str, float]) -> None:
        seen = self._seen
        now = math.fsum(seen.losses) / len(seen.losses) if seen.losses else None
        for name, loss in held_out_losses(metrics).items():
            if not math.isfinite(loss):
                continue
            seen.loss_now[name] = loss
            if name not in seen.best or loss <= seen.best[name][0]:
                seen.best[name] = (loss, now)

    def _found(self, step: int, last: bool) -> dict[str, Alert]:
        found = (self._no_update(last), self._collapse(step), self._cut(last), self._overfits(step))
        return {alert.guard: alert for alert in found if alert is not None}

    def _no_update(self, last: bool) -> Alert | None:
        seen = self._seen
        if seen.updates or seen.steps < (1 if last else WINDOW):
            return None
        steps = "The only step has not" if seen.steps == 1 else f"None of the {seen.steps} steps has"
        if seen.rows:
            message = (
                f"{steps} updated the policy: its gradient was zero. It still has the weights that it began with. See"
                " whether the rows have tokens that teach (examples/taught_share), and whether their loss is zero."
            )
            return _alert(NO_UPDATE, 0.0, message, seen.first, severe=last, metric=_GRADIENT)
        dead, failed = seen.dead / seen.steps, seen.failed / seen.steps
        why = f"{dead:.0%} of the groups had equal rewards"
        if failed:
            why += f", and {failed:.0%} of the rewards could not be computed"
        message = (
            f"{steps} updated the policy: {why}. It still has the weights that it began with. Compare samples with the"
            " rows' references: the prompts may be too easy or too hard, or the reward the same for every answer."
        )
        return _alert(NO_UPDATE, dead, message, seen.first, severe=last)

    def _collapse(self, step: int) -> Alert | None:
        seen = self._seen
        if seen.start is None or not seen.recent or seen.held_out is None or seen.held_out_now is None:
            return None
        count = len(seen.recent)
        now = (math.fsum(mean for mean, _ in seen.recent) / count, math.hypot(*(e for _, e in seen.recent)) / count)
        if not (_fell(seen.start, now, seen.floor) and _fell(seen.held_out, seen.held_out_now, seen.floor)):
            return None
        message = (
            f"The reward fell from {seen.start[0]:.4g} at the start to {now[0]:.4g}, and the held-out reward from"
            f" {seen.held_out[0]:.4g} to {seen.held_out_now[0]:.4g}: the policy has collapsed. Fork from a checkpoint"
            " before it began, or start again, with a lower optimizer.learning_rate."
        )
        since = seen.told[COLLAPSE][0] if COLLAPSE in seen.told else step
        return _alert(COLLAPSE, now[0], message, since, severe=True)

    def _cut(self, last: bool) -> Alert | None:
        seen = self._seen
        answers = sum(count for _, count, _ in seen.cut)
        share = sum(cut for cut, _, _ in seen.cut) / answers if answers else 0.0
        enough = answers >= _LEAST_ANSWERS and (last or len(seen.cut) >= WINDOW)
        # Answers that succeed although they are cut, such as single letters, need no more room.
        if not enough or share < NEARLY_ALL or seen.solved:
            return None
        steps = f"the last {len(seen.cut)} steps" if len(seen.cut) > 1 else "the step"
        message = (
            f"{share:.0%} of the answers of {steps} were cut at max_tokens = {seen.cut[-1][2]:.0f} before they ended by"
            " themselves. Raise rollout.max_tokens, ask for shorter answers in the prompt, or set a thinking budget."
        )
        since = seen.cut_since or seen.first
        return _alert(CUT, share, message, since, severe=False)

    def _overfits(self, step: int) -> Alert | None:
        """Preference training is not judged: it makes even better completions less likely, by design."""
        seen = self._seen
        if not seen.losses:
            return None
        training = math.fsum(seen.losses) / len(seen.losses)
        risen = [
            (seen.loss_now[name] / best, name, best, then)
            for name, (best, then) in seen.best.items()
            if then is not None and training < then and best > 0.0 and seen.loss_now[name] > _RISEN * best
        ]
        if not risen:
            return None
        _, name, best, then = max(risen)
        message = (
            f"{name} rose from its best of {best:.4g} to {seen.loss_now[name]:.4g} while the training loss fell from"
            f" {then:.4g} to {training:.4g}: the policy learns its rows by heart. Use a checkpoint from before, train"
            " for fewer steps, or lower optimizer.learning_rate."
        )
        since = seen.told[OVERFITS][0] if OVERFITS in seen.told else step
        return _alert(OVERFITS, seen.loss_now[name], message, since, severe=False, metric=name)


def _alert(name: str, value: float, message: str, since: int, *, severe: bool, metric: str | None = None) -> Alert:
    return Alert(metric or _METRICS[name], value, message, "alert", name, "error" if severe else "warn", since)


def _fell(start: Mean, now: Mean, floor: float) -> bool:
    """Whether a score has lost most of its height above ``floor``, and more than chance explains."""
    fall = start[0] - now[0]
    return fall > _LOST * (start[0] - floor) and fall > _BEYOND * math.hypot(start[1], now[1])
