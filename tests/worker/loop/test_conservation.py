"""Every prompt that a curriculum hands out is trained once, rejected, dropped for a reason, or pending.

None is skipped, and none is doubled. Each run here is killed and resumed 50 times, at random moments, and compared with
one that was not.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.worker.loop.conftest import tiny_spec
from tests.worker.loop.pure_loop import World, rows
from trainer_core.spec import RunSpec
from trainer_core.steering.curriculum import Curriculum
from trainer_core.steering.prompt_ledger import LedgerError

KILLS = 50
STEPS, BATCH, SAMPLES = 30, 4, 4
DATA = rows(97)
"""No multiple of the batch: epochs end within one."""

ASYNC = {"type": "async", "max_staleness": 2}
REFILLS = {"enabled": True, "max_refills": 8}
PARTIAL = {"over_provision": 1.5, "max_continuations": 1}
REPLAY = {"capacity": 16, "per_step": 2, "max_age": 8, "uses": 2}
MODES: dict[str, dict[str, Any]] = {
    "sync": {},
    "streamed": {"rollout__mode": {"type": "streamed"}},
    "async": {"rollout__mode": ASYNC},
    "in flight": {"rollout__mode": {"type": "in_flight", "max_staleness": 3}},
    "sync, refills": {"rollout__dynamic_sampling": REFILLS},
    "streamed, refills": {"rollout__mode": {"type": "streamed"}, "rollout__dynamic_sampling": REFILLS},
    "async, refills": {"rollout__mode": ASYNC, "rollout__dynamic_sampling": REFILLS},
    "in flight, refills, replay": {
        "rollout__mode": {"type": "in_flight", "max_staleness": 3},
        "rollout__dynamic_sampling": REFILLS,
        "batching__replay": REPLAY,
    },
    "sync, replay": {"batching__replay": REPLAY},
    "async, replay": {"rollout__mode": ASYNC, "batching__replay": REPLAY},
    "partial": {"rollout__partial": PARTIAL},
    "partial, refills, replay": {
        "rollout__partial": PARTIAL,
        "rollout__dynamic_sampling": REFILLS,
        "batching__replay": REPLAY,
    },
    "partial, token budget": {"rollout__partial": {**PARTIAL, "token_budget": 50}},
    "tail batching": {
        "rollout__partial": {"over_provision": 1.5, "max_continuations": 0},
        "rollout__scheduler": {"type": "tail_batching"},
    },
}


def outcome(row: int, sample: int) -> tuple[int, float | None]:
    """Rows differ in length, every fifth has no signal, and the rewards of some cannot be computed."""
    length = 1 + (row * 7 + sample) % 9
    if row % 17 == 3:
        return length, None
    return length, 1.0 if row % 5 == 0 else float(sample % 2)


def spec(**changes: Any) -> RunSpec:
    return RunSpec.model_validate(
        tiny_spec(
            **{
                "data": {"sources": [{"name": "add", "dataset": "add@1"}]},
                "reward": {"definition": "calculation@1", "max_error_share": 1.0},
                "schedule": {"steps": STEPS, "prompts_per_step": BATCH},
                "checkpoint": {"every_steps": 2},
                "evaluation": {},
                "diagnosis": {"every_steps": 0},
                "thinking": {"type": "none"},
                "traces": {"max_mib": 0},
                "rollout__engine": {"max_model_len": 64, "max_num_seqs": 12, "kv_cache_gib": 0.05},
            }
            | changes
        )
    )


def world(folder: Path, seed: int, **changes: Any) -> World:
    folder.mkdir()
    return World(spec(**changes), folder, outcome, DATA, seed)


def killed(folder: Path, seed: int, **changes: Any) -> World:
    """A run that was killed 50 times, and then ended."""
    run = world(folder, seed, **changes)
    for _ in range(KILLS):
        assert not run.attempt(run.chance.randrange(1, 90)), "it ended before the last kill"
    assert run.attempt()
    assert run.attempts == KILLS + 1
    return run


def told(run: World) -> list[dict[str, Any]]:
    """All prompts that the run has reported, in the order of the steps."""
    return [one for step in sorted(run.settled) for one in run.settled[step]]


def check_conserved(run: World) -> None:
    """Hold the run to the law, against what its learner was handed and what its curriculum draws."""
    ledger = run.steps[STEPS]["ledger"]
    settled = told(run)
    ordinals = [one["ordinal"] for one in settled]
    assert len(ordinals) == len(set(ordinals)), "no prompt is settled twice"
    left = ledger["dropped"].get("run_ended", 0)
    assert ledger["handed_out"] == len(settled) + left and ledger["pending"] == ledger["earlier"] == 0
    assert ledger["handed_out"] == ledger["trained"] + sum(ledger["rejected"].values()) + sum(
        ledger["dropped"].values()
    )
    counted = Counter((one["fate"], one["reason"]) for one in settled)
    told_of: dict[tuple[str, str | None], int] = {("trained", None): ledger["trained"]}
    told_of |= {(fate, why): n for fate in ("rejected", "dropped") for why, n in ledger[fate].items()}
    told_of.pop(("dropped", "run_ended"), None)
    assert counted == +Counter(told_of)
    unreported = set(range(ledger["handed_out"])) - set(ordinals)
    assert len(unreported) == left, "no prompt is skipped"

    drawn = Curriculum(run.spec, {"add": DATA}, run.spec.schedule.seed).draw(ledger["handed_out"])
    assert all(drawn[one["ordinal"]].prompt_id == one["prompt_id"] for one in settled), "the draws of any run"

    learned = Counter(
        group.prompt_id
        for step, groups in run.learned.items()
        for group in own(run, step, groups)
        if any(trajectory.excluded is None for trajectory in group.trajectories)
    )
    assert learned == Counter(one["prompt_id"] for one in settled if one["fate"] == "trained")
    for step, text in run.disk.items():
        state = json.loads(text)
        figures = {**state["prompts"], "pending": len(state["prompts"]["pending"])}
        if step < STEPS:
            assert figures == run.steps[step]["ledger"], "a checkpoint has the figures of its step's report"
        assert sorted(state["ordinals"]) == sorted(name for name, *_ in state["pending"])
        assert sorted(state["ordinals"].values()) == sorted(state["prompts"]["pending"])


def own(run: World, step: int, groups: list[Any]) -> list[Any]:
    """The groups of a batch without those that came back from earlier ones."""
    before = {group.group_id for past in range(1, step) for group in run.learned[past]}
    return [group for group in groups if group.group_id not in before]


def lengths(run: World, below: int) -> Counter[int]:
    """Tokens of the samples that the run was trained on, once for each prompt with an ordinal below ``below``."""
    found = (one for one in told(run) if one["fate"] == "trained" and one["ordinal"] < below)
    trained = [int(one["prompt_id"].rpartition(":")[2]) for one in found]
    return Counter(outcome(row, sample)[0] for row in trained for sample in range(SAMPLES))


@pytest.mark.expensive(2, "kills and resumes runs in every mode", about=("worker/loop", "trainer_core/steering"))
@pytest.mark.parametrize("mode", MODES)
def test_fifty_kills_lose_and_repeat_no_prompt(mode: str, tmp_path: Path) -> None:
    whole = world(tmp_path / "whole", 1, **MODES[mode])
    assert whole.attempt()
    check_conserved(whole)
    run = killed(tmp_path / "killed", 2, **MODES[mode])
    check_conserved(run)
    assert sorted(run.steps) == sorted(whole.steps) == list(range(1, STEPS + 1))
    ends = [one.steps[STEPS]["ledger"] for one in (whole, run)]
    # Whichever groups are left over at the end, the others are the same.
    common = min(end["handed_out"] for end in ends)
    left = SAMPLES * sum(end["dropped"].get("run_ended", 0) for end in ends)
    differing = Counter(lengths(run, common))
    differing.subtract(lengths(whole, common))
    assert sum(map(abs, differing.values())) <= left
    if "budget" not in mode:
        assert ends[0] == ends[1] and left == 0


def test_a_checkpoint_from_before_the_ledger_is_continued(tmp_path: Path) -> None:
    run = world(tmp_path / "run", 3, **MODES["partial, refills, replay"])
    while not run.disk:
        run.attempt(150)
    step, text = max(run.disk.items())
    state = json.loads(text)
    drawn, pending = state["curriculum"]["drawn"], len(state["pending"])
    assert pending > 0
    for key in ("prompts", "ordinals", "refilled"):
        del state[key]
    run.disk = {step: json.dumps(state)}
    assert run.attempt()
    ledger = run.steps[STEPS]["ledger"]
    assert ledger["earlier"] == drawn - pending
    later = [one for at, found in run.settled.items() if at > step for one in found]
    assert sorted(one["ordinal"] for one in later) == list(range(drawn - pending, ledger["handed_out"]))
    settled = ledger["trained"] + sum(ledger["rejected"].values()) + sum(ledger["dropped"].values())
    assert ledger["handed_out"] == settled + ledger["earlier"] and ledger["pending"] == 0


@pytest.mark.parametrize("fault", ["a skipped group", "a doubled group", "a figure", "a draw"])
def test_a_ledger_that_is_not_that_of_its_checkpoint_is_refused(tmp_path: Path, fault: str) -> None:
    run = world(tmp_path / "run", 3, **MODES["partial"])
    while not run.disk:
        run.attempt(150)
    step, text = max(run.disk.items())
    state = json.loads(text)
    match fault:
        case "a skipped group":
            state["pending"].pop()
        case "a doubled group":
            state["pending"].append(["9-0", *state["pending"][0][1:]])
        case "a figure":
            state["prompts"]["trained"] += 1
        case "a draw":
            state["curriculum"]["drawn"] += 1
    run.disk = {step: json.dumps(state)}
    with pytest.raises(LedgerError):
        run.attempt()
    assert max(run.steps) <= step, "nothing was trained"


def test_a_last_batch_leaves_a_named_rest(tmp_path: Path) -> None:
    run = world(tmp_path / "run", 1, **MODES["partial, token budget"])
    assert run.attempt()
    ledger, state = run.steps[STEPS]["ledger"], json.loads(run.disk[STEPS])
    assert ledger["dropped"]["run_ended"] == len(state["pending"]) > 0
    assert f"{len(state['pending'])} groups were sampled and not trained on: the run ended first" in run.logs
    assert state["prompts"]["pending"] == sorted(state["ordinals"].values()), "a run that continues from there has them"
