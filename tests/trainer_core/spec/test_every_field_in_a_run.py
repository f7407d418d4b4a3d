"""Every field of a run spec, and every kind of method, stands in a recipe or in a test of a whole run."""

from tests.support.installation import ROOT
from tests.support.spec_usage import Usage, kind_of, models, of_recipes, of_whole_runs, place, read

CPU = "refused on a CPU, which has no other memory to keep it in"
DEVICES = "no whole run of the suite has an engine of stages, or of experts shared out"
CHANNELS = "no policy that is small enough to be trained here speaks in Harmony's channels"
RANKS = "no whole run of the suite has several learner ranks"
UNUSED = {
    "Policy.activation_offload": (CPU, "tests/trainer_core/update/test_memory_savings.py"),
    "Optimizer.offload": (CPU, "tests/trainer_core/update/test_memory_savings.py"),
    "Engine.pipeline_parallel_size": (DEVICES, "tests/trainer_core/spec/test_engine_devices.py"),
    "Engine.expert_parallel": (DEVICES, "tests/trainer_core/spec/test_engine_devices.py"),
    "Parallelism.context_parallel_size": (RANKS, "tests/trainer_core/update/context_ranks.py"),
    "TaggedThinking.answer_start": (CHANNELS, "tests/worker/engine/test_thinking_tracker.py"),
}
"""What stands in no run: why, and where it is tested instead."""


def everything() -> Usage:
    """All that there is to use: a ``type`` is no field of its own, but what chooses a kind."""
    found = Usage()
    for name, model in models().items():
        found.add(model, (field for field in model.model_fields if field != "type"))
        if kind_of(model) is None:
            found.kinds.discard(name)
    return found


def used() -> Usage:
    recipes, runs = of_recipes(), of_whole_runs()
    return Usage(recipes.fields | runs.fields, recipes.kinds | runs.kinds)


def test_every_field_and_every_kind_stands_in_a_run() -> None:
    there, seen = everything(), used()
    assert len(there.kinds) > 90 and len(there.fields) > 300
    assert sorted(there.kinds - seen.kinds) == []
    assert sorted(there.fields - seen.fields - UNUSED.keys()) == [], "use it in a recipe or a run, or say why not"


def test_what_stands_in_no_run_is_tested_elsewhere() -> None:
    there, seen = everything(), used()
    assert UNUSED.keys() <= there.fields
    assert sorted(UNUSED.keys() & seen.fields) == [], "it stands in a run now"
    for path, (reason, file) in UNUSED.items():
        assert reason and path.rpartition(".")[2] in (ROOT / file).read_text()


def test_documents_are_read_out_of_tests() -> None:
    found = Usage()
    read(
        """
KEPT = {"type": "snapshot", "every_steps": 2}
def test(spec, platform):
    launcher.prepare(spec(proximal=KEPT, schedule__epochs=2, rollout__mode={"type": "async"}))
    other = {"rollout__stop": ["7"], "reward": {"components": [{"weight": 2.0}]}, "unknown__field": 1}
""",
        found,
    )
    assert found.kinds >= {"SnapshotProximal", "AsyncMode"}
    assert found.fields >= {"SnapshotProximal.every_steps", "Schedule.epochs", "Rollout.stop", "RunSpec.proximal"}
    assert not found.fields & {"Schedule.steps", "AsyncMode.max_staleness", "FinalWeight.weight"}


def test_an_inherited_field_is_one_field() -> None:
    known = models()
    assert place(known["GRPOAdvantage"], "whiten") == place(known["RLOOAdvantage"], "whiten") == "GroupAdvantage.whiten"
    assert place(known["GRPOAdvantage"], "epsilon") != place(known["MCGRPOAdvantage"], "epsilon")
