"""Named machines, and rates computed for them. Nothing here was measured: peaks are the vendors' figures, and
efficiencies are those of well-tuned software. For real values, use a run on the machine itself or
``python -m worker.plan``."""

from dataclasses import dataclass

from trainer_core.planning.attained import (
    USUAL,
    decode_seconds,
    decode_table,
    learner_tokens_per_s,
    prefill_tokens_per_s,
)
from trainer_core.planning.lengths import Lengths
from trainer_core.planning.memory import BYTES, GIB, Memory
from trainer_core.planning.policy_size import PolicySize
from trainer_core.planning.rates import EngineRates, LearnerRates, Rates, SyncRates
from trainer_core.spec import RunSpec

TENSOR_SHARE = 0.8
"""Share of their combined speed that devices reach if they split every layer, because they all-reduce after each."""
LIBRARIES = 2 * GIB
"""Bytes that the driver, the libraries and allocator fragmentation take in each process on a device."""


@dataclass(frozen=True, slots=True)
class Machine:
    """GPUs of one kind in one host."""

    gpus: int
    memory: int
    """Bytes of one GPU that are available to processes."""
    peak: float
    """bfloat16 operations per second of one GPU, without sparsity."""
    bandwidth: float
    """Bytes per second of one GPU's memory."""

    def fits(self, need: Memory, engines: int, ranks: int) -> bool:
        """Whether a run's engines and learner ranks, whose memory is ``need``, fit on these GPUs."""
        return self.room(need, engines, ranks) >= 0

    def room(self, need: Memory, engines: int, ranks: int) -> int:
        """Bytes that the fullest GPU has left; below 0 if the run does not fit.

        Each engine and each rank has its own GPU if there are enough; otherwise they share.
        """
        learner, engine = need.learner.peak + LIBRARIES, need.engine.total + LIBRARIES
        if engines * need.engine.devices + ranks <= self.gpus:
            return self.memory - max(learner, engine)
        # Engines with several devices do not share them.
        if max(engines, ranks) <= self.gpus and need.engine.devices == 1:
            return self.memory - learner - engine
        return -1

    def rates(self, size: PolicySize, spec: RunSpec, prompt_tokens: float, lengths: Lengths) -> Rates:
        """Rates of a run, computed from peak and bandwidth."""
        width = BYTES[spec.rollout.engine.dtype]
        devices, across = spec.rollout.engine.devices, spec.rollout.engine.tensor_parallel_size
        shared = spec.parallelism.rollout_workers * devices + spec.parallelism.learner_ranks > self.gpus
        # Devices of one stage work in parallel; stages work one after the other.
        speed = across * (TENSOR_SHARE if across > 1 else 1.0)
        context = prompt_tokens + min(lengths.quantile(0.5), spec.rollout.max_tokens) / 2
        per_sequence = size.cached_numbers(on_cpu=False) * width * context

        def step(running: float) -> float:
            read = size.parameters * width + running * per_sequence
            return decode_seconds(read, size.parameters, running, self.peak * speed, self.bandwidth * speed, USUAL)

        # As many sequences as the cache holds run at the same time; the others wait.
        held = max(1, int(spec.rollout.engine.kv_cache_gib * GIB * devices / per_sequence))
        most = min(held, spec.rollout.engine.max_num_seqs)
        weights = size.parameters * width / (self.bandwidth * USUAL.bandwidth)
        return Rates(
            source="computed from the peaks of the machine and usual efficiencies, not measured",
            engine=EngineRates(
                decode=decode_table(most, step),
                prefill_tokens_per_s=prefill_tokens_per_s(size.parameters, self.peak * speed, USUAL),
                gpus=devices,
            ),
            learner=LearnerRates(
                tokens_per_s=learner_tokens_per_s(size.parameters, self.peak, USUAL),
                doubling_efficiency=0.95,
            ),
            sync=SyncRates(publish_seconds=weights + 0.1, load_seconds=weights + 0.1),
            loop_seconds=0.5,
            prompt_tokens=prompt_tokens,
            lengths=lengths,
            overlap_slowdown=2.0 if shared else 1.0,
        )


MACHINES = {
    "1× 24 GB card": Machine(gpus=1, memory=int(23.5 * GIB), peak=165e12, bandwidth=1.0e12),
    "1× H100 80 GB": Machine(gpus=1, memory=int(79.1 * GIB), peak=989e12, bandwidth=3.35e12),
    "8× H100 80 GB": Machine(gpus=8, memory=int(79.1 * GIB), peak=989e12, bandwidth=3.35e12),
}
"""Machines by the names that recipes use, with the figures of an RTX 4090 and of H100 SXM."""
