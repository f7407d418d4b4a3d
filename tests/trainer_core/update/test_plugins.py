"""Packages that bring methods and graders: they join as if they were built in, or are left out with a sentence."""

from pathlib import Path

import pytest

from tests.support.packages import install, python

ABOUT = ("kernels", "platform", "trainer_core")

PARAMETERS = '''
from typing import ClassVar, Literal
from trainer_core.authoring import (
    Advice, AdvantageModel, FilterModel, GraderModel, GroupAdvantage, LossModel, Sample, field, method_doc,
)

class HalvedLoss(LossModel):
    """REINFORCE at a scale of its own."""
    model_config = method_doc("Halved", "L = -scale A log pi", "This test")
    advice: ClassVar[Advice] = Advice("When a test runs.", ("actor/entropy",))
    anchor = "none"
    function = "acme_rl.formulas:halved"
    type: Literal["halved"] = "halved"
    scale: float = field(0.5, gt=0.0, le=1.0, steer="optimizer_step")
    """Factor of the loss."""

    def gradient_weight(self, ratio: float, sign: int) -> float:
        return self.scale

class SignAdvantage(GroupAdvantage):
    """The sign of the reward above 0.5."""
    function = "acme_rl.formulas:sign"
    type: Literal["sign"] = "sign"

class ShortFilter(FilterModel):
    """Leave out short completions."""
    function = "acme_rl.formulas:short"
    type: Literal["short"] = "short"
    tokens: int = 3

class CapitalGrader(GraderModel):
    """Share of capital letters."""
    type: Literal["capitals"] = "capitals"

    def grade(self, sample, item):
        return sum(letter.isupper() for letter in sample.answer_text) / max(len(sample.answer_text), 1)
'''
FORMULAS = """
from trainer_core.methods.losses.ratio import drift

def halved(spec, view):
    return -spec.scale * view.advantages * view.logprobs, drift(view)

def sign(spec, rewards, mask, inputs):
    return (rewards - 0.5).sign()

def short(spec, groups, compares):
    for trajectory in (t for group in groups for t in group.trajectories):
        if trajectory.length < spec.tokens:
            trajectory.exclude("short")
"""
ENTRIES = {
    "dressage.losses": {"halved": "acme_rl.parameters:HalvedLoss"},
    "dressage.advantages": {"sign": "acme_rl.parameters:SignAdvantage"},
    "dressage.filters": {"short": "acme_rl.parameters:ShortFilter"},
    "dressage.graders": {"capitals": "acme_rl.parameters:CapitalGrader"},
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with the whole package in it."""
    modules = {"acme_rl/__init__.py": "", "acme_rl/parameters.py": PARAMETERS, "acme_rl/formulas.py": FORMULAS}
    install(tmp_path / "site", "acme-rl", modules, ENTRIES)
    return tmp_path / "site"


SPEC = """
import sys
from tests.trainer_core.update.making import make_groups, make_spec
spec = make_spec(
    loss={"type": "halved"}, advantage={"type": "sign"}, filters=[{"type": "zero_advantage"}, {"type": "short"}],
    corrections=[],
)
"""
WEB = """
import acme_rl.parameters  # the package may come first, as its own tests have it
from trainer_core.explain import explain
from trainer_core.rewards import RewardDefinition, Sample
from trainer_core.rewards.score import score
from trainer_core.spec import RunSpec, apply_control
from tests.trainer_core.specs import spec
run = spec(loss={"type": "halved"}, advantage={"type": "sign"}, filters=[{"type": "short"}], corrections=[])
assert type(run.loss) is acme_rl.parameters.HalvedLoss
assert apply_control(run, "loss.scale", 0.25).loss.scale == 0.25
mapping = RunSpec.model_json_schema()["properties"]["loss"]["discriminator"]["mapping"]
assert mapping["halved"] == "#/$defs/HalvedLoss" and mapping["ppo_clip"] == "#/$defs/PPOClipLoss"
found = explain(run)
assert set(found.bands[0].positive) == {0.5}
assert [method.when for method in found.methods if method.path == "loss"] == ["When a test runs."]
nested = {"type": "composite", "parts": [{"grader": {"type": "capitals"}}]}
reward = RewardDefinition.model_validate({"components": [{"name": "loud", "grader": nested, "weight": 2.0}]})
assert not reward.needs_jail and not reward.needs_length and reward.endpoints == ()
assert score(reward, Sample("ABcd", None, "ABcd", 4), {}).reward == 1.0
import sys
assert "torch" not in sys.modules and "acme_rl.formulas" not in sys.modules
"""


@pytest.mark.expensive(2, "starts processes that load a plugin", about=ABOUT)
def test_the_web_tier_loads_the_parameters_alone_and_grades(site: Path) -> None:
    python(WEB, site=site)


LEARN = (
    SPEC
    + """
import numpy as np
from trainer_core.episodes import Verdict
from trainer_core.methods import filters
from trainer_core.methods.advantages.assign import assign
from trainer_core.methods.loading import load_formulas
from trainer_core.update.learner import Learner
load_formulas(spec)
groups = make_groups(1)
everybody = [t for group in groups for t in group.trajectories]
for number, trajectory in enumerate(everybody):
    trajectory.verdict = Verdict(float(number % 2))
assign(spec.advantage, groups)
assert [t.advantage for t in everybody] == [-1.0, 1.0] * 8
filters.apply(spec.filters, groups, spec.advantage.compares)
assert {t.excluded for t in everybody if t.length < 3} <= {"short"} and any(t.excluded is None for t in everybody)

def learned(spec):
    learner = Learner(sys.argv[1], spec)
    before = learner.weights()
    metrics = learner.update(groups, spec, 1)
    return metrics, max(float(np.abs(before[name] - after).max()) for name, after in learner.weights().items())

ours, moved = learned(spec)
reference, _ = learned(make_spec(loss={"type": "reinforce"}, corrections=[]))
assert moved > 0.0 and ours["actor/grad_norm"] > 0.0
assert abs(ours["actor/loss"] / reference["actor/loss"] - 0.5) < 1e-6
assert abs(ours["actor/grad_norm"] / reference["actor/grad_norm"] - 0.5) < 1e-4
"""
)


@pytest.mark.expensive(12, "starts processes that load a plugin", about=ABOUT)
def test_the_learner_trains_with_it(site: Path, policy_dir: Path) -> None:
    python(LEARN, str(policy_dir), site=site)


def refusal(name: str = "halved") -> str:
    """A program that prints why the plug-in was left out, and how a spec that asks for it is answered."""
    return f"""
from pydantic import ValidationError
import trainer_core.rewards.graders
from trainer_core.spec import plugins
from tests.trainer_core.specs import spec
assert spec().loss.type == "ppo_clip"  # nothing else is taken down
for plugin, reason in plugins.failures.items():
    print(f"{{plugin}}: {{reason}}")
try:
    spec(loss={{"type": "{name}"}}, corrections=[])
except ValidationError as error:
    print("spec:", [(each["loc"], each["msg"]) for each in error.errors()])
"""


@pytest.mark.expensive(4, "starts processes that load a plugin", about=ABOUT)
@pytest.mark.parametrize(
    ("module", "reason"),
    [
        ("import nowhere_to_be_found", "ModuleNotFoundError: No module named 'nowhere_to_be_found'"),
        ("raise SystemExit('no licence')", "cannot be imported: SystemExit: no licence"),
        ("class HalvedLoss: pass", "is not a LossModel: its parameters must derive from that class"),
        ("import torch\nHalvedLoss = None", "imports torch, which parameters must not"),
        (PARAMETERS.replace('"halved"', '"other"'), 'must have the field type: Literal["halved"] = "halved"'),
        (PARAMETERS.replace("acme_rl.formulas:halved", "acme_rl.formulas"), "must name its formula"),
    ],
    ids=["import", "exit", "base", "torch", "type", "formula"],
)
def test_a_plugin_that_cannot_be_used_is_left_out_and_its_type_answered(
    tmp_path: Path, module: str, reason: str
) -> None:
    entry = {"dressage.losses": {"halved": "acme_parameters:HalvedLoss"}}
    install(tmp_path, "acme-rl", {"acme_parameters.py": module}, entry)
    first, answer = python(refusal(), site=tmp_path).stdout.splitlines()
    assert first.startswith("the loss 'halved' of the package acme-rl 1.0: acme_parameters:HalvedLoss ")
    assert reason in first
    assert answer.startswith("spec: [(('loss',), ") and "of the package acme-rl 1.0 could not be loaded" in answer


@pytest.mark.expensive(2, "starts processes that load a plugin", about=ABOUT)
def test_a_type_that_is_built_in_keeps_its_meaning(tmp_path: Path) -> None:
    text = PARAMETERS.replace('"halved"', '"ppo_clip"')
    entry = {"dressage.losses": {"ppo_clip": "acme_parameters:HalvedLoss"}}
    install(tmp_path, "acme-rl", {"acme_parameters.py": text}, entry)
    printed = python(refusal("ppo_clip"), site=tmp_path).stdout
    assert printed == (
        "the loss 'ppo_clip' of the package acme-rl 1.0: the type 'ppo_clip' is built in: the package must choose "
        "another\n"
    )


@pytest.mark.expensive(2, "starts processes that load a plugin", about=ABOUT)
def test_two_packages_with_one_type_are_both_left_out(site: Path) -> None:
    entry = {"dressage.graders": {"capitals": "other_rl:CapitalGrader"}}
    install(site, "other-rl", {"other_rl.py": PARAMETERS}, entry)
    printed = python(refusal(), site=site).stdout.splitlines()
    assert [line.partition(":")[0] for line in printed] == [
        "the grader 'capitals' of the package acme-rl 1.0",
        "the grader 'capitals' of the package other-rl 1.0",
    ]
    assert all(line.endswith("acme-rl 1.0 and other-rl 1.0 both define it: uninstall one of them") for line in printed)


@pytest.mark.expensive(3, "starts processes that load a plugin", about=ABOUT)
def test_the_command_tells_what_joined_and_what_did_not(site: Path) -> None:
    install(site, "broken-rl", {}, {"dressage.filters": {"gone": "broken_rl:Gone"}})
    program = "from trainer_core.__main__ import main; raise SystemExit(main(['plugins']))"
    done = python(program, site=site, check=False)
    assert done.returncode == 1
    assert "the loss 'halved' of the package acme-rl 1.0" in done.stdout.splitlines()
    assert (
        "plug-in skipped: the filter 'gone' of the package broken-rl 1.0: broken_rl:Gone cannot be imported"
        in done.stderr
    )


CHECK = """
import django
django.setup()
from django.core.checks import run_checks
print([message.msg for message in run_checks() if message.id == "runs.W001"])
"""


@pytest.mark.expensive(18, "starts processes that load a plugin", about=ABOUT)
def test_the_platform_warns_of_what_was_left_out(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "dressage.settings")
    assert python(CHECK, site=site).stdout.strip() == "[]"
    install(site, "broken-rl", {}, {"dressage.filters": {"gone": "broken_rl:Gone"}})
    assert "the filter 'gone' of the package broken-rl 1.0 was skipped" in python(CHECK, site=site).stdout


MISSING = (
    SPEC
    + """
from trainer_core.methods.loading import load_formulas
from trainer_core.spec.plugins import PluginError
try:
    load_formulas(spec)
except PluginError as error:
    print(error)
"""
)


@pytest.mark.expensive(5, "starts processes that load a plugin", about=ABOUT)
def test_a_formula_that_cannot_be_loaded_is_told_before_the_first_step(site: Path) -> None:
    (site / "acme_rl" / "formulas.py").write_text("import nowhere_to_be_found")
    assert python(MISSING, site=site).stdout.strip() == (
        "the loss 'halved' of the package acme-rl 1.0: its formula acme_rl.formulas:halved cannot be loaded: "
        "ModuleNotFoundError: No module named 'nowhere_to_be_found'"
    )
