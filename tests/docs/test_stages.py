"""The page on stages: its specs are accepted, and it names every field and metric of the objectives."""

import re
from typing import Any

import pytest
import yaml

from tests.support.guide import ROOT
from trainer_core.metrics import examples
from trainer_core.spec.objective import Preference, Supervised
from trainer_core.spec.run import RunSpec

TEXT = (ROOT / "docs" / "stages.md").read_text()
SPECS = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)]


@pytest.mark.parametrize(("spec", "objective"), list(zip(SPECS, (Supervised, Preference), strict=True)))
def test_its_specs_are_accepted(spec: dict[str, Any], objective: type) -> None:
    assert isinstance(RunSpec.model_validate(spec).objective, objective)


@pytest.mark.parametrize("objective", [Supervised, Preference])
def test_it_names_every_field(objective: type[Supervised | Preference]) -> None:
    fields = set(objective.model_fields) - {"type"}
    assert {name for name in fields if not re.search(rf"`(objective\.)?{name}\b|\b{name}:", TEXT)} == set()


def test_it_names_every_metric() -> None:
    def is_named(name: str) -> bool:
        end = name.rpartition("/")[2]
        return f"`{name}`" in TEXT or f"`…/{end}`" in TEXT

    metrics = [entry.name for entry in examples.ENTRIES if not entry.name.endswith("<part>")]
    assert [name for name in metrics if not is_named(name)] == []
