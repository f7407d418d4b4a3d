"""What a spec says of the parts of its reward, against the definition."""

from typing import Any

import pytest

from tests.trainer_core.specs import spec
from trainer_core.rewards import RewardDefinition
from trainer_core.rewards.matching import mismatches, part_names

DEFINITION = RewardDefinition.model_validate(
    {"components": [{"name": name, "grader": {"type": "exact"}} for name in ("right", "tidy")]}
)


def gdpo(weights: dict[str, float], **parts: Any) -> Any:
    return spec(advantage={"type": "gdpo", "weights": weights}, **parts)


def test_components_and_the_shaping_of_the_run_are_parts() -> None:
    assert part_names(spec(), DEFINITION) == ["right", "tidy"]
    shaped = {
        "definition": "r@1",
        "overlong": {"buffer": 8},
        "length": {"type": "l1_max", "target": {"type": "sampled", "min": 4, "max": 9, "tell": " {tokens}"}},
    }
    full = spec(reward=shaped, filters=[{"type": "length_outliers"}])
    assert part_names(full, DEFINITION) == ["right", "tidy", "overlong", "length_shaping", "outlier"]


@pytest.mark.parametrize("weights", [{}, {"right": 2.0}, {"right": 1.0, "tidy": 0.0}])
def test_weights_of_known_parts_are_accepted(weights: dict[str, float]) -> None:
    assert list(mismatches(gdpo(weights), DEFINITION)) == []


def test_each_unknown_part_is_named_where_it_stands() -> None:
    found = list(mismatches(gdpo({"style": 1.0, "right": 1.0, "overlong": 1.0}), DEFINITION))
    assert [path for path, _ in found] == [("advantage", "weights", "style"), ("advantage", "weights", "overlong")]
    assert found[0][1] == "the reward has no part 'style'; its parts are right, tidy"
    shaped = gdpo({"overlong": 1.0}, reward={"definition": "r@1", "overlong": {"buffer": 8}})
    assert list(mismatches(shaped, DEFINITION)) == []


def test_a_part_that_a_batch_may_lack_has_no_weight() -> None:
    document = DEFINITION.model_dump()
    document["components"][1]["row_field"] = "rubric"
    definition = RewardDefinition.model_validate(document)
    assert list(mismatches(gdpo({"right": 2.0}), definition)) == []
    [(path, message)] = mismatches(gdpo({"right": 2.0, "tidy": 1.0}), definition)
    assert path == ("advantage", "weights", "tidy")
    assert message == "the part 'tidy' is for rows that hold 'rubric' alone: a batch may have none of them"


def test_other_advantages_name_no_parts() -> None:
    assert list(mismatches(spec(), DEFINITION)) == []
