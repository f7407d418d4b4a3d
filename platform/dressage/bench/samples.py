"""Turns the request of a bench job into samples: ``{id, output_text, item, …}``."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from dressage.bench.sources import MAX_MATCHED, FromDataset, FromRun, PastedSample, RolloutFilter
from dressage.common.api.errors import FieldError
from dressage.common.api.problems import Problem, invalid
from dressage.datasets.models import DatasetVersion
from dressage.datasets.selectors import rows_at
from dressage.datasets.selectors import version_by_ref as dataset_version
from dressage.runs.facts.selectors import line_of
from dressage.runs.models import Run
from dressage.teams.models import Team
from dressage.telemetry.models import Rollout
from dressage.telemetry.selectors import rollouts
from dressage.telemetry.traces.filters import filtered
from dressage.telemetry.traces.groups import GroupPlace, page
from dressage.telemetry.traces.reading import fill
from trainer_core.link.base import read_spelled
from trainer_core.link.bench import ThinkingTags
from trainer_core.rewards.parts import SHAPING_PARTS
from trainer_core.rewards.probes import ProbeKind, gold_text, probes
from trainer_core.spec.generation.thinking import TaggedThinking

PROBED_ITEMS = 3
"""Number of different dataset rows that probes are created from."""
_CODE_FIELDS = ("canonical_solution", "code")


class MatchedDocument(TypedDict):
    """Stored rollouts selected by a filter."""

    filter: dict[str, Any]
    """The members of the filter that were set."""
    groups: int
    left_out: bool
    """Whether more groups match than one job may score: older groups were left out."""


class BenchSourceDocument(TypedDict):
    """Source of the samples; the other members depend on the type."""

    type: Literal["pasted", "dataset", "run"]
    dataset: NotRequired[str]
    outputs: NotRequired[str]
    run: NotRequired[str]
    name: NotRequired[str]
    """The run's name."""
    step: NotRequired[int | None]
    matching: NotRequired[MatchedDocument]


class BenchStoredDocument(TypedDict, total=False):
    """Origin of a sample: a row of a dataset, or a run's rollout with its reward at the time."""

    row: int
    rollout: str
    step: int
    reward: float | None
    graded: float | None
    """The reward without the terms that the run's shaping has added."""
    reward_version: str | None
    reward_error: str | None
    group: str
    """``attempt/step/group_id``: the same for samples of one prompt in one step."""
    sample: int
    """Index in the group."""


class BenchSampleDocument(TypedDict):
    """A completion to score."""

    id: str
    output_text: str
    item: dict[str, Any]
    """The dataset row."""
    completion_tokens: int | None
    finish_reason: str
    probe: ProbeKind | None
    """Kind of the adversarial probe; null for an ordinary sample."""
    stored: BenchStoredDocument | None


def sample_document(
    number: int,
    output_text: str,
    item: Any,
    completion_tokens: int | None,
    finish_reason: str = "stop",
    *,
    probe: ProbeKind | None = None,
    stored: BenchStoredDocument | None = None,
) -> BenchSampleDocument:
    """One sample in the form that jobs store; ``stored`` holds what a run has recorded of it."""
    return {
        "id": f"{'probe' if probe else 's'}{number}",
        "output_text": output_text,
        "item": item,
        "completion_tokens": completion_tokens,
        "finish_reason": finish_reason,
        "probe": probe,
        "stored": stored,
    }


def collect(
    team: Team, wanted: list[PastedSample] | FromDataset | FromRun
) -> tuple[BenchSourceDocument, list[BenchSampleDocument]]:
    """(source, samples) for any request. Raises a 422 problem for something that does not exist."""
    match wanted:
        case FromDataset():
            return dataset_samples(team, wanted)
        case FromRun():
            return run_samples(team, wanted)
        case _:
            return pasted_samples(wanted)


def pasted_samples(pasted: Sequence[PastedSample]) -> tuple[BenchSourceDocument, list[BenchSampleDocument]]:
    """(source, samples) of pasted completions."""
    return {"type": "pasted"}, [
        sample_document(index, sample.output_text, sample.item, sample.completion_tokens, sample.finish_reason)
        for index, sample in enumerate(pasted)
    ]


def dataset_samples(team: Team, wanted: FromDataset) -> tuple[BenchSourceDocument, list[BenchSampleDocument]]:
    """(source, samples) of rows with their own gold answer as output. Raises a 422 problem for a missing row."""
    version = require_version(team, wanted.dataset)
    numbers = wanted.rows if wanted.rows is not None else spread(version.rows, wanted.count or 0)
    beyond = [index for index, number in enumerate(numbers) if number >= version.rows]
    if beyond:
        raise invalid(f"/samples/rows/{beyond[0]}", f"{version.ref} has {version.rows} rows, numbered from 0.")
    rows = _read(version, numbers)
    samples = []
    for index, number in enumerate(numbers):
        output = _reference(rows[number])
        if output is None:
            raise invalid("/samples/dataset", f"Row {number} of {version.ref} has no gold answer to score.")
        samples.append(sample_document(index, output, rows[number], None, stored={"row": number}))
    return {"type": "dataset", "dataset": version.ref, "outputs": wanted.outputs}, samples


def require_version(team: Team, ref: str) -> DatasetVersion:
    """The dataset version that samples are taken from. Raises a 422 problem if it does not exist."""
    try:
        return dataset_version(team, ref)
    except LookupError as error:
        raise invalid("/samples/dataset", str(error), code="unknown_reference") from error


def run_samples(team: Team, wanted: FromRun) -> tuple[BenchSourceDocument, list[BenchSampleDocument]]:
    """(source, samples) of stored rollouts. Raises a 422 problem for rollouts that do not exist."""
    run = Run.objects.for_team(team).filter(pk=wanted.run).first()
    if run is None:
        raise invalid("/samples/run", "There is no such run in this team.", code="unknown_reference")
    source: BenchSourceDocument = {"type": "run", "run": run.id, "name": run.name, "step": wanted.step}
    if wanted.matching is None:
        found = _rollouts(run, wanted)
    else:
        found, source["matching"] = _matching(run, wanted.matching)
    fill(found)
    rows = _rows_of(team, run, found)
    samples = []
    for index, rollout in enumerate(found):
        stored: BenchStoredDocument = {
            "rollout": str(rollout.id),
            "step": rollout.step,
            "reward": rollout.reward,
            "graded": _graded(rollout),
            "reward_version": rollout.reward_version,
            "reward_error": rollout.reward_error,
            "group": f"{rollout.attempt}/{rollout.step}/{rollout.group_id}",
            "sample": rollout.sample,
        }
        item, reason = rows[rollout.prompt_id], rollout.finish_reason
        samples.append(sample_document(index, rollout.completion, item, rollout.length, reason, stored=stored))
    return source, samples


def run_tags(team: Team, wanted: list[PastedSample] | FromDataset | FromRun) -> dict[str, str | None] | None:
    """Thinking tags by which the run named in ``wanted`` was judged; None if it names no run."""
    if not isinstance(wanted, FromRun):
        return None
    run = Run.objects.for_team(team).filter(pk=wanted.run).first()
    thinking = run.effective_spec.get("thinking", {}) if run else {}
    if thinking.get("type") != "tags":
        return None
    tags = TaggedThinking.model_validate(thinking)
    return {"start": tags.start, "end": tags.end, "answer_start": tags.answer_start}


def probe_samples(samples: Iterable[BenchSampleDocument], thinking: ThinkingTags) -> list[BenchSampleDocument]:
    """Adversarial samples created from the first few different rows among ``samples``."""
    items: list[Any] = []
    for sample in samples:
        if sample["item"] not in items:
            items.append(sample["item"])
        if len(items) == PROBED_ITEMS:
            break
    tags = (thinking.start, thinking.end, thinking.answer_start)
    made = [(item, probe) for item in items for probe in probes(item, *tags)]
    return [
        sample_document(index, probe.output_text, item, probe.completion_tokens, probe=probe.kind)
        for index, (item, probe) in enumerate(made)
    ]


def spread(size: int, count: int) -> list[int]:
    """``count`` numbers spread evenly over ``range(size)``; all of them if there are fewer."""
    if count >= size:
        return list(range(size))
    return [index * size // count for index in range(count)]


def _rollouts(run: Run, wanted: FromRun) -> list[Rollout]:
    if wanted.rollouts is not None:
        known = Rollout.objects.filter(run=run).in_bulk([int(number) for number in wanted.rollouts])
        errors = [
            FieldError(pointer=f"/samples/rollouts/{index}", detail=f"The run has no stored rollout {number}.")
            for index, number in enumerate(wanted.rollouts)
            if int(number) not in known
        ]
        if errors:
            raise Problem(422, "Invalid request", errors[0]["detail"], errors=errors, code="unknown_reference")
        return [known[int(number)] for number in wanted.rollouts]
    stored = rollouts(run.id, line_of(run))
    step = wanted.step
    if step is None:
        step = stored.order_by("-step").values_list("step", flat=True).first()
    of_step = stored.none() if step is None else stored.filter(step=step)
    ids = list(of_step.order_by("group_id", "sample", "id").values_list("id", flat=True))
    if not ids:
        where = f"of step {wanted.step}" if wanted.step is not None else "yet"
        raise invalid("/samples/step", f"The run has no stored rollouts {where}.", code="unknown_reference")
    picked = [ids[index] for index in spread(len(ids), wanted.count or 0)]
    known = Rollout.objects.in_bulk(picked)
    return [known[number] for number in picked]


def _matching(run: Run, by: RolloutFilter) -> tuple[list[Rollout], MatchedDocument]:
    """Whole groups that match, newest first, up to the limit of one job. Raises a 422 problem if none match."""
    found, wanted = filtered(rollouts(run.id, line_of(run)), by.model_dump())
    ids: list[int] = []
    groups, after, left_out = 0, None, False
    while not left_out:
        some = page(found, wanted, after=after, limit=MAX_MATCHED)
        for group in some.groups:
            if len(ids) + len(group["samples"]) > MAX_MATCHED:
                left_out = True
                break
            ids += [int(sample["id"]) for sample in group["samples"]]
            groups += 1
        if some.next is None:
            break
        after = GroupPlace.read(some.next)
    if not ids:
        detail = "No stored rollout of the run matches this filter."
        if left_out:
            detail = f"The newest matching group has more than {MAX_MATCHED} samples: pick rollouts instead."
        raise invalid("/samples/matching", detail, code="unknown_reference")
    known = Rollout.objects.in_bulk(ids)
    told: MatchedDocument = {"filter": by.model_dump(exclude_none=True), "groups": groups, "left_out": left_out}
    return [known[number] for number in ids if number in known], told


def _graded(rollout: Rollout) -> float | None:
    """The reward that the definition gave: the stored one minus the known shaping terms."""
    if rollout.reward is None:
        return None
    return rollout.reward - sum(read_spelled(rollout.reward_parts.get(name, 0.0)) or 0.0 for name in SHAPING_PARTS)


def _rows_of(team: Team, run: Run, found: Sequence[Rollout]) -> dict[str, Any]:
    """The dataset row for each prompt id, which is ``source:row``; only training rollouts are stored."""
    refs = {source["name"]: source["dataset"] for source in run.effective_spec["data"]["sources"]}
    wanted: dict[str, set[int]] = {}
    for rollout in found:
        number = rollout.prompt_id.rpartition(":")[2]
        if rollout.source not in refs or not number.isdecimal():
            raise invalid("/samples", f"The dataset row of the rollout {rollout.id} is unknown.")
        wanted.setdefault(rollout.source, set()).add(int(number))
    rows: dict[tuple[str, int], Any] = {}
    for source, numbers in wanted.items():
        try:
            read = _read(dataset_version(team, refs[source]), sorted(numbers))
        except LookupError as error:
            raise invalid("/samples/run", str(error), code="unknown_reference") from error
        rows |= {(source, number): row for number, row in read.items()}
    return {rollout.prompt_id: rows[rollout.source, int(rollout.prompt_id.rpartition(":")[2])] for rollout in found}


def _read(version: DatasetVersion, numbers: Sequence[int]) -> dict[int, Any]:
    """Rows by number. Raises LookupError for a number that does not exist, a problem if the file no longer exists."""
    try:
        rows = rows_at(version, numbers)
    except FileNotFoundError as error:
        raise invalid(
            "/samples", f"The file of the dataset {version.ref} no longer exists.", code="missing_files"
        ) from error
    lost = sorted(set(numbers) - rows.keys())
    if lost:
        raise LookupError(f"{version.ref} has no row {lost[0]}.")
    return rows


def _reference(item: dict[str, Any]) -> str | None:
    """The gold answer as a policy would write it: in a box, or as a code block."""
    for name in _CODE_FIELDS:
        if isinstance(item.get(name), str) and "answer" not in item:
            code = item[name]
            # HumanEval's prompt is the beginning of a function; the solution continues it.
            if name == "canonical_solution" and isinstance(item.get("prompt"), str):
                code = item["prompt"] + code
            return f"```python\n{code}\n```"
    gold = gold_text(item)
    if gold is None:
        return None
    # GSM8K writes the final answer after four hashes, at the end of the solution.
    return f"\\boxed{{{gold.rpartition('####')[2].strip()}}}"
