"""Loading a version into an engine, and proving that it is what the engine computes with."""

from typing import TYPE_CHECKING, Literal, Protocol

from worker.learner.probe.verdict import judge
from worker.learner.transport import Tensors

if TYPE_CHECKING:
    from worker.learner.weights import WeightBundle


class Receiver(Protocol):
    """Interface that ``apply_and_probe`` needs of an engine."""

    def load_weights(self, version: int, tensors: Tensors, *, kv: Literal["keep", "recompute"]) -> None:
        """Serve these weights from now on."""

    def score(self, sequences: list[list[int]]) -> list[list[float]]:
        """Log-probability of each token but the first."""


def apply_and_probe(
    engine: Receiver, weights: "WeightBundle", tolerance: float, *, kv: Literal["keep", "recompute"] = "recompute"
) -> float:
    """Load a version into the engine and prove that it is what the engine computes with.

    Args:
        engine: the rollout engine.
        weights: the version.
        tolerance: largest accepted difference of log-probabilities, in nats.
        kv: what becomes of the keys and values of running sequences.

    Returns:
        The largest absolute difference found.

    Raises:
        ProbeFailed: a difference is above the tolerance or not a number. The engine then holds weights that nobody
            vouches for: apply the last good bundle again, or drain the worker.
    """
    weights.load_into(engine, kv=kv)
    scored = engine.score(weights.probe_sequences)
    return judge(weights.version, scored, weights.probe_logprobs, tolerance)
