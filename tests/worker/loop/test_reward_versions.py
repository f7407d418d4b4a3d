"""Which reward versions a run may go by: read strictly, matched with the spec, and prepared for once."""

from collections.abc import Callable
from typing import Any

import pytest

from trainer_core.link.commands import CheckpointCommand, Command, ControlCommand
from trainer_core.link.reward import RewardVersion, Versions
from trainer_core.spec import RunSpec
from worker.errors import StartError
from worker.rewards.versions import RewardVersions

Make = Callable[..., dict[str, Any]]
RUBRIC = {"type": "rubric", "items_field": "rubric"}


def definition(*names: str, grader: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"components": [{"name": name, "grader": grader or {"type": "numeric"}} for name in names], **more}


def known(**versions: dict[str, Any]) -> dict[str, RewardVersion]:
    return {f"{name}@1": RewardVersion.model_validate({"definition": one}) for name, one in versions.items()}


def command(**documents: Any) -> Command:
    return ControlCommand(
        id="c",
        type="control",
        revision=1,
        target="reward.shadow",
        value=[],
        apply_at="next",
        definitions={f"{name}@1": one for name, one in documents.items()},
    )


class Workers:
    """What the reward workers were asked to be ready for."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.trouble: str | None = None

    def __call__(self, versions: Versions) -> str | None:
        self.asked.append(list(versions))
        return self.trouble


@pytest.fixture
def workers() -> Workers:
    return Workers()


def test_workers_are_made_ready_once(spec: Make, workers: Workers) -> None:
    first = RunSpec.model_validate(spec(reward={"definition": "a@1"}))
    versions = RewardVersions(first, known(a=definition("right")), {}, workers)
    assert workers.asked == [], "they came up with what the bundle names"
    versions.take_in(
        [CheckpointCommand(id="k", type="checkpoint"), command(b={"definition": definition("x", success_threshold=3)})]
    )
    second = RunSpec.model_validate(spec(reward={"definition": "a@1", "shadow": ["b@1"]}))
    third = RunSpec.model_validate(spec(reward={"definition": "b@1", "shadow": ["b@1"]}))
    assert [versions.objection(one) for one in (second, second, third, first)] == [None] * 4
    assert workers.asked == [["b@1"]]
    assert versions.thresholds == {"a@1": 0.5, "b@1": 3.0}


def test_workers_that_cannot_be_made_ready_refuse_the_control(spec: Make, workers: Workers) -> None:
    versions = RewardVersions(
        RunSpec.model_validate(spec(reward={"definition": "a@1"})), known(a=definition("right")), {}, workers
    )
    versions.take_in([command(b={"definition": definition("x")})])
    workers.trouble = "there is no jail here"
    shadowed = RunSpec.model_validate(spec(reward={"definition": "a@1", "shadow": ["b@1"]}))
    assert versions.objection(shadowed) == "there is no jail here"
    workers.trouble = None
    assert versions.objection(shadowed) is None
    assert workers.asked == [["b@1"], ["b@1"]]


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"definition": definition("x"), "extra": 1}, "Extra inputs are not permitted (at extra)"),
        ({"definition": {"components": []}}, "at least 1 item"),
        ({}, "Field required (at definition)"),
        ({"definition": definition("x"), "judges": {"j": {"model": "m"}}}, "either a base_url or a model_dir"),
    ],
)
def test_what_comes_with_a_command_is_read_strictly(
    spec: Make, workers: Workers, document: dict[str, Any], words: str
) -> None:
    versions = RewardVersions(
        RunSpec.model_validate(spec(reward={"definition": "a@1"})), known(a=definition("right")), {}, workers
    )
    versions.take_in([command(b=document)])
    found = versions.objection(RunSpec.model_validate(spec(reward={"definition": "b@1"})))
    assert found is not None and found.startswith("the definition of b@1 is not valid here") and words in found


@pytest.mark.parametrize(
    ("reward", "promoted", "words"),
    [
        ({"length_bias": {"component": "style"}}, definition("right"), "the reward has no component 'style'"),
        ({"evolve": {"component": "style"}}, definition("right"), "the reward has no component 'style'"),
        ({"evolve": {"component": "style"}}, definition("style"), "graded by numeric, and only a rubric evolves"),
    ],
)
def test_a_version_without_what_the_run_watches_is_not_promoted(
    spec: Make, workers: Workers, reward: dict[str, Any], promoted: dict[str, Any], words: str
) -> None:
    def chosen(ref: str) -> RunSpec:
        return RunSpec.model_validate(spec(reward={"definition": ref, **reward}))

    versions = RewardVersions(chosen("a@1"), known(a=definition("style", grader=RUBRIC)), {}, workers)
    versions.take_in([command(b={"definition": promoted})])
    found = versions.objection(chosen("b@1"))
    assert found is not None and words in found
    with pytest.raises(StartError, match=words):
        RewardVersions(chosen("b@1"), known(b=promoted), {}, workers)


def test_gdpo_keeps_its_parts(spec: Make, workers: Workers) -> None:
    def chosen(ref: str) -> RunSpec:
        return RunSpec.model_validate(spec(reward={"definition": ref}, advantage={"type": "gdpo"}))

    both = definition("right", "form")
    versions = RewardVersions(chosen("a@1"), known(a=both, b=definition("right"), c=both), {}, workers)
    assert versions.objection(chosen("b@1")) == "gdpo compares components: b@1 must have those of a@1"
    assert versions.objection(chosen("c@1")) is None


def test_a_checkpoint_brings_back_what_it_names(spec: Make, workers: Workers) -> None:
    promoted = RunSpec.model_validate(spec(reward={"definition": "b@1"}))
    with pytest.raises(StartError, match="the definition of b@1 did not come"):
        RewardVersions(promoted, known(a=definition("right")), {}, workers)
    versions = RewardVersions(promoted, known(a=definition("right")), {"b@1": definition("x")}, workers)
    assert workers.asked == [["b@1"]]
    saved = versions.state()
    assert set(saved) == {"a@1", "b@1"}
    assert RewardVersions(promoted, {}, saved, workers).definition("b@1") == versions.definition("b@1")


def test_a_command_brings_the_judges_that_a_checkpoint_does_not_hold(spec: Make, workers: Workers) -> None:
    first, promoted = (RunSpec.model_validate(spec(reward={"definition": ref})) for ref in ("a@1", "b@1"))
    versions = RewardVersions(first, known(a=definition("right")), {"b@1": definition("right")}, workers)
    assert versions.objection(promoted) is None, "without judges, which its definition does not ask"
    judge = {"base_url": "http://127.0.0.1:9/v1", "model": "m"}
    versions.take_in([command(b={"definition": definition("right"), "judges": {"default": judge}})])
    equipped: list[Versions] = []
    versions._equip = lambda asked: equipped.append(asked)
    assert versions.objection(promoted) is None
    assert [list(one["b@1"].judges) for one in equipped] == [["default"]]
