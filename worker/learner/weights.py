"""Versioned weights on their way from the learner to a rollout engine, closed by a probe.

A checksum can tell that bytes have arrived, not that the engine computes with them. So the learner scores fixed token
sequences with the very weights it publishes, and each engine must come to the same log-probabilities before the
version may generate (``worker/learner/probe``).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import ray

from trainer_core.update.formats.quantise import Scales
from worker.learner.probe.evidence import Evidence, Sampler, Witness
from worker.learner.publication import Changes, Publication
from worker.learner.transport import PUBLISHED_BY, TRANSPORTS, Tensors
from worker.learner.transport.object_store import ObjectStore

log = logging.getLogger(__name__)

Kv = Literal["keep", "recompute"]


class WeightReceiver(Protocol):
    """Interface that a bundle needs of an engine."""

    def load_weights(self, version: int, tensors: Tensors, *, kv: Kv) -> None:
        """Serve these weights from now on."""


@runtime_checkable
class ChangeReceiver(Protocol):
    """Interface of an engine that can apply changes to the weights that it holds."""

    weights_key: str | None
    """Key of the weights that it holds; None where that is not known."""

    def load_weights(self, version: int, tensors: Tensors, *, kv: Kv) -> None:
        """Serve these weights from now on."""

    def load_changes(
        self, version: int, chain: Sequence[Tensors], digests: Mapping[str, bytes], *, kv: Kv
    ) -> str | None:
        """Apply changes in their order and prove the result by the digests; the reason where that cannot be done."""


@dataclass(frozen=True, slots=True)
class WeightBundle:
    """One version of the weights with the evidence to check them by. Arrays stay shared memory in Ray's store."""

    version: int
    tensors: Any
    """Whole weights as their transport has packed them, of this version or an earlier one; see ``changes``."""
    probe_sequences: list[list[int]]
    probe_logprobs: list[list[float]]
    """Learner's natural-log probability of each probe token but the first, at temperature 1."""
    transport: str = ObjectStore.name
    """Name of the transport that packed the tensors."""
    base_key: str = ""
    """Key of the weights in ``tensors``; empty where no changes will ever refer to them."""
    changes: tuple[Changes, ...] = ()
    """Changes between ``tensors`` and this version, in their order."""
    evidence: Evidence = field(default_factory=Evidence)
    """Sampled values of the tensors, and what else the probe judges by."""

    def unpacked(self) -> Tensors:
        """This version's weights by Hugging Face name.

        Raises:
            RuntimeError: the transport cannot hand them over.
        """
        unpack = TRANSPORTS[self.transport].unpack
        base = unpack(self.tensors)
        if not self.changes:
            return base
        from trainer_core.update.formats.changes import Changed  # torch is not for every reader of a bundle

        return Changed(base, [unpack(one.packed) for one in self.changes])

    def load_into(self, engine: WeightReceiver, *, kv: Kv = "recompute", whole: bool = False) -> None:
        """Have an engine serve this version: by what has changed where it holds an earlier one, else by the whole.

        Args:
            engine: the engine.
            kv: what becomes of the keys and values of running sequences.
            whole: whether it shall get the whole weights whatever it holds.
        """
        changeable = engine if isinstance(engine, ChangeReceiver) else None
        if changeable is not None and not whole and self._load_changes(changeable, kv):
            return
        engine.load_weights(self.version, self.unpacked(), kv=kv)
        if changeable is not None:
            changeable.weights_key = self.key

    @property
    def key(self) -> str | None:
        """Name of exactly these weights; None where they have none."""
        return (self.changes[-1].after if self.changes else self.base_key) or None

    def _load_changes(self, engine: ChangeReceiver, kv: Kv) -> bool:
        held = engine.weights_key
        keys = [one.before for one in self.changes]
        if held is None or held not in keys:
            return False
        missing = self.changes[keys.index(held) :]
        unpack = TRANSPORTS[self.transport].unpack
        chain = [unpack(one.packed) for one in missing]
        digests: dict[str, bytes] = {}
        for one, tensors in zip(missing, chain, strict=True):
            # The last version that touched a tensor tells what it is in the end; one that came whole needs no proof.
            digests = {name: found for name, found in digests.items() if name not in tensors} | dict(one.digests)
        reason = engine.load_changes(self.version, chain, digests, kv=kv)
        if reason is not None:
            log.warning("weights %d: the changes were not applied (%s); loading the whole", self.version, reason)
            return False
        engine.weights_key = self.key
        return True


class Publisher(Protocol):
    """Interface that ``publish`` needs of a learner."""

    version: int
    engine_fp8: Scales | None
    """Scales of the matrices that the engines hold in FP8; None where they hold none."""

    def layers(self) -> Iterator[Tensors]:
        """All weights, layer by layer; a layer's may be read until the next is asked for."""

    def score(self, sequences: Sequence[Sequence[int]]) -> list[list[float]]:
        """Log-probability of each token but the first."""

    def score_rounded_otherwise(self, sequences: Sequence[Sequence[int]]) -> list[list[float]] | None:
        """The same with other roundings than the engine's; None where nothing is rounded to 16 bits or fewer."""


def bundle(
    learner: Publisher,
    sequences: list[list[int]],
    publication: Publication | None = None,
    witness: Witness | None = None,
) -> WeightBundle:
    """The learner's weights as they are now, with the probe scored by the same version.

    Args:
        learner: gives weights and scores.
        sequences: the probe.
        publication: what was published before, which it adds to; without one the weights are whole.
        witness: what was testified of the version before; without one nothing is known of it.
    """
    sampler = Sampler(learner.version, learner.engine_fp8)
    layers = sampler.following(learner.layers())
    base, key, chain = None, "", tuple[Changes, ...]()
    if publication is None:
        base = TRANSPORTS[PUBLISHED_BY].pack(learner.version, layers)
    else:
        publication.add(learner.version, layers)
        base, key, chain = publication.base, publication.base_key, publication.chain
    scores, others = learner.score(sequences), learner.score_rounded_otherwise(sequences)
    evidence = (witness or Witness()).testify(learner.version, sampler.sample, sequences, scores, others)
    return WeightBundle(learner.version, base, sequences, scores, PUBLISHED_BY, key, chain, evidence)


def publish(
    learner: Publisher,
    sequences: list[list[int]],
    publication: Publication | None = None,
    witness: Witness | None = None,
) -> ray.ObjectRef[WeightBundle]:
    """Put the learner's weights into Ray's object store; readers map them without a copy."""
    return ray.put(bundle(learner, sequences, publication, witness))
