"""A run under a teacher: its folder comes with the bundle, and every step tells the distance to it."""

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from tests.support.installation import ROOT
from tests.worker.loop.conftest import POLICY
from tests.worker.loop.platform_double import PlatformDouble
from trainer_core.spec import RunSpec

PACED = {
    "teacher": "large",
    "distribution": "sparse",
    "k": 8,
    "alone": True,
    "weighting": {"type": "paced", "alpha": 1.0, "beta": 1.0},
}
SCOPE = {"teacher": "large", "alone": True, "weighting": {"type": "scope", "temperature": 1.0}}


def test_the_shipped_document_is_a_run() -> None:
    document = yaml.safe_load((ROOT / "demo" / "on-policy-distillation.yaml").read_text())
    assert document["title"] and document["description"]
    spec = RunSpec.model_validate(document["spec"])
    assert spec.distillation is not None
    assert (spec.distillation.teacher, spec.distillation.alone) == ("starter-teacher", True)


@pytest.mark.parametrize("distillation", [PACED, SCOPE], ids=["paced", "scope"])
def test_run_is_pulled_to_its_teacher(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any], distillation: dict[str, Any]
) -> None:
    warm_launcher.prepare(
        spec(distillation=distillation, filters=[], schedule__steps=2),
        teacher={"name": "large", "path": str(POLICY)},
    )
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] in (["succeeded"], ["failed"]))

    assert platform.states() == ["starting", "running", "succeeded"], platform.of("state")[-1]
    first, second = (event["data"]["metrics"]["actor/distill_loss"] for event in platform.of("step"))
    # The teacher is the base policy itself: the first step finds no distance, and hardly moves. SCOPE imitates right
    # samples as well, of which it has −ρ.
    assert first < 1e-6 and second < 1e-3
    assert distillation is SCOPE or min(first, second) > -1e-3
    warm_launcher.until_gone()
