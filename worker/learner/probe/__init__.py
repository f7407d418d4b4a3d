"""The probe: proof, after each transfer of weights, that an engine computes with what the learner has published."""

from worker.learner.probe.check import apply_and_probe
from worker.learner.probe.errors import ProbeFailed
from worker.learner.probe.sequences import probe_sequences

__all__ = ["ProbeFailed", "apply_and_probe", "probe_sequences"]
