"""The engine on a card: what a recorded step samples is what the weights say, after an update too."""

from pathlib import Path

from tests.worker.engine.policies import make_policy, perturbed, state
from tests.worker.engine.test_graphs import assert_samples_by_its_weights
from worker.engine import EngineConfig, InferenceEngine


def test_recorded_steps_read_the_weights_of_the_last_update(tmp_path: Path) -> None:
    model = make_policy(tmp_path, tied=True)
    with InferenceEngine(EngineConfig(model_dir=str(tmp_path), max_model_len=256, max_num_seqs=32)) as engine:
        assert engine._weights._recorded is not None, "steps are recorded by default"
        assert_samples_by_its_weights(engine, tolerance=1e-3)
        for version in (1, 2):
            engine.load_weights(version, state(perturbed(model)))
            assert_samples_by_its_weights(engine, tolerance=1e-3)


def test_steps_are_as_they_are_without_a_recording(tmp_path: Path) -> None:
    make_policy(tmp_path, tied=True)
    config = EngineConfig(model_dir=str(tmp_path), max_model_len=256, max_num_seqs=32, cuda_graphs=False)
    with InferenceEngine(config) as engine:
        assert engine._weights._recorded is None
        assert_samples_by_its_weights(engine, tolerance=1e-3)
