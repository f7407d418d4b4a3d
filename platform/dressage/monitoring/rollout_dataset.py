"""Datasets from a run's stored rollouts: its best answers, or pairs of a better and a worse answer to one prompt.

A row of the result is the row that the prompt came from, with the answer as its ``completion``, or with two answers as
``chosen`` and ``rejected``: what runs with the objectives ``sft`` and ``preference`` learn from.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, Literal

from django.db.models import Q, QuerySet

from dressage.common.actors import Actor
from dressage.common.api.problems import invalid
from dressage.datasets import selectors as datasets
from dressage.datasets.derivation.operations import MadeRows
from dressage.datasets.derivation.services import Derived, Into, derive
from dressage.datasets.models import DatasetVersion
from dressage.datasets.versions.storage import read_rows_at
from dressage.runs.facts.selectors import line_of
from dressage.runs.models import Run
from dressage.telemetry import selectors
from dressage.telemetry.models import Rollout
from dressage.telemetry.traces.reading import fill
from trainer_core.spec import RunSpec

MAX_ROLLOUTS = 200_000
"""Stored rollouts that are compared for one dataset."""
MAX_MADE = 20_000
"""Rows of one dataset."""
FILLED = 1_000
"""Rollouts whose texts are read at a time."""


@dataclass(frozen=True, slots=True)
class RolloutChoice:
    """Which rollouts become rows."""

    kind: Literal["completions", "pairs"]
    per_prompt: int = 1
    """Most rows of one prompt."""
    min_reward: float | None = None
    """Least reward of a completion; None: it must succeed by its reward version's threshold."""
    min_gap: float = 0.0
    """Pairs: the rewards differ by more than this."""
    first_step: int | None = None
    last_step: int | None = None


Stored = Mapping[str, Any]
"""Columns of a stored rollout."""


def make_dataset(run: Run, actor: Actor, choice: RolloutChoice, into: Into, *, dry_run: bool) -> Derived:
    """Create a dataset of the run's stored rollouts.

    Raises:
        Problem: 409 if the slug is taken; 422 if no rollout fits, too many are stored, or the run learns from rows.
    """
    spec = RunSpec.model_validate(run.effective_spec)
    if spec.examples is not None:
        raise invalid("/kind", "The run learns from rows and samples nothing: it has no rollouts.", code="no_rollouts")
    stored = _stored(run, choice)
    chosen = list(_completions(stored, choice) if choice.kind == "completions" else _pairs(stored, choice))
    if not chosen:
        raise invalid("/kind", _nothing(len(stored), choice), code="no_rows")
    if len(chosen) > MAX_MADE:
        detail = f"{len(chosen):,} rows would be made, more than {MAX_MADE:,}: choose fewer steps or rows per prompt."
        raise invalid("/per_prompt", detail, code="too_many_rows")
    refs = {source.name: source.dataset for source in spec.data.sources}
    versions = _versions(run, {refs[one[0]["source"]] for one in chosen if one[0]["source"] in refs})
    rows = list(_rows(chosen, choice, refs, versions))
    if not rows:
        raise invalid("/kind", "The rows that the prompts came from are gone.", code="no_rows")
    parent, *others = versions.values()
    arguments = {"run": run.id, **{name: value for name, value in asdict(choice).items() if value is not None}}
    operation = MadeRows(name="rollouts", rows=rows, arguments=arguments)
    return derive(run.team, parent, actor, operation, into=into, others=others, dry_run=dry_run)


def _stored(run: Run, choice: RolloutChoice) -> list[Stored]:
    """Graded answers in one turn that ended by themselves, ordered by prompt and group, the best of each first."""
    found: QuerySet[Rollout] = selectors.rollouts(run.id, line_of(run))
    found = found.filter(reward__isnull=False, reward_error__isnull=True, finish_reason="stop")
    found = found.filter(Q(turns__isnull=True) | Q(turns=[]))
    bounds = {"step__gte": choice.first_step, "step__lte": choice.last_step}
    found = found.filter(**{name: step for name, step in bounds.items() if step is not None})
    columns = ("id", "prompt_id", "source", "step", "group_id", "reward", "right", "length")
    ordered = found.order_by("prompt_id", "step", "group_id", "-reward", "length", "id")
    rows = list(ordered.values(*columns)[: MAX_ROLLOUTS + 1])
    if len(rows) > MAX_ROLLOUTS:
        detail = f"More than {MAX_ROLLOUTS:,} rollouts are stored: give first_step or last_step."
        raise invalid("/first_step", detail, code="too_many_rollouts")
    return rows


def _completions(stored: Sequence[Stored], choice: RolloutChoice) -> Iterator[tuple[Stored, ...]]:
    """The best answers of each prompt: of equal rewards the shorter, then the newer. Twins may be among them."""
    for _, of_prompt in groupby(stored, key=lambda one: one["prompt_id"]):
        fit = [
            one
            for one in of_prompt
            if (one["right"] if choice.min_reward is None else one["reward"] >= choice.min_reward)
        ]
        fit.sort(key=lambda one: (-one["reward"], one["length"], -one["step"], one["id"]))
        yield from ((one,) for one in fit[: choice.per_prompt])


def _pairs(stored: Sequence[Stored], choice: RolloutChoice) -> Iterator[tuple[Stored, ...]]:
    """The best and the worst answer of a group, of each prompt those groups in which they differ most."""
    for _, of_prompt in groupby(stored, key=lambda one: one["prompt_id"]):
        pairs = []
        for _, of_group in groupby(of_prompt, key=lambda one: (one["step"], one["group_id"])):
            group = list(of_group)
            best, worst = group[0], group[-1]
            if best["reward"] - worst["reward"] > choice.min_gap:
                pairs.append((best, worst))
        pairs.sort(key=lambda pair: (pair[1]["reward"] - pair[0]["reward"], -pair[0]["step"], pair[0]["id"]))
        yield from pairs[: choice.per_prompt]


def _versions(run: Run, refs: Iterable[str]) -> dict[str, DatasetVersion]:
    found = {}
    for ref in sorted(refs):
        try:
            found[ref] = datasets.version_by_ref(run.team, ref)
        except LookupError as error:
            detail = f"{ref}, which the run's prompts came from, is gone: {error}"
            raise invalid("/kind", detail, code="unknown_reference") from error
    return found


def _rows(
    chosen: Sequence[tuple[Stored, ...]],
    choice: RolloutChoice,
    refs: Mapping[str, str],
    versions: Mapping[str, DatasetVersion],
) -> Iterator[dict[str, Any]]:
    """Rows of the result. Those whose answers have the same text are made once."""
    texts = _texts([one["id"] for row in chosen for one in row])
    names = ("completion",) if choice.kind == "completions" else ("chosen", "rejected")
    wanted: dict[str, set[int]] = defaultdict(set)
    for row in chosen:
        if row[0]["source"] in refs:
            wanted[refs[row[0]["source"]]].add(_number(row[0]))
    with datasets.missing_files("/kind"):
        known = {ref: read_rows_at(versions[ref].path, numbers) for ref, numbers in wanted.items()}
    for row in chosen:
        origin = known.get(refs.get(row[0]["source"], ""), {}).get(_number(row[0]))
        answers = [texts.get(one["id"], "") for one in row]
        if origin is not None and all(map(str.strip, answers)) and len(set(answers)) == len(answers):
            yield {**origin, **dict(zip(names, answers, strict=True))}


def _texts(ids: Sequence[int]) -> dict[int, str]:
    """Whole completions by rollout."""
    found: dict[int, str] = {}
    for start in range(0, len(ids), FILLED):
        rollouts = list(Rollout.objects.filter(id__in=ids[start : start + FILLED]))
        fill(rollouts)
        found |= {rollout.id: rollout.completion for rollout in rollouts}
    return found


def _number(stored: Stored) -> int:
    """Number of the row that the prompt came from."""
    return int(stored["prompt_id"].rpartition(":")[2])


def _nothing(stored: int, choice: RolloutChoice) -> str:
    if not stored:
        return "No graded answer that ended by itself is stored: see traces in the run's spec."
    if choice.kind == "pairs":
        return f"In no stored group do the rewards differ by more than {choice.min_gap:g}. Lower min_gap."
    if choice.min_reward is None:
        return f"None of {stored:,} stored answers succeeds. Give min_reward."
    return f"None of {stored:,} stored answers has a reward of {choice.min_reward:g} or more. Lower min_reward."
