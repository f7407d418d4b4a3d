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
from worker.learner.transport import OBJECT_STORE, TRANSPORTS, Tensors

log = logging.getLogger(__name__)

Kv = Literal["keep", "recompute"]
WHOLE = -1


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


@dataclass(frozen=True)
class WeightBundle:
    """One version of the weights with the evidence to check them by. The tensors are where their transport put them."""

    version: int
    tensors: Any
    """Whole weights as their transport has packed them, of this version or an earlier one; see ``changes``."""
    probe_sequences: list[list[int]]
    probe_logprobs: list[list[float]]
    """Learner's natural-log probability of each probe token but the first, at temperature 1."""
    transport: str = OBJECT_STORE
    """Name of the transport that packed the tensors."""
    base_key: str = ""
    """Key of the weights in ``tensors``; empty where no changes will ever refer to them."""
    changes: tuple[Changes, ...] = ()
    """Changes between ``tensors`` and this version, in their order."""
    evidence: Evidence = field(default_factory=Evidence)
    """Sampled values of the tensors, and what else the probe judges by."""

    _fetched: dict[int, Tensors] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Tensors that are at hand in this process: by their place in ``changes``, and the whole by ``WHOLE``."""

    def __getstate__(self) -> dict[str, Any]:
        """Return all but what is at hand in this process, which does not travel to another."""
        return {**self.__dict__, "_fetched": {}}

    def fetch(self, held: str | None) -> None:
        """Have at hand what ``load_into`` takes, for an engine that holds the weights of that key and generates on.

        Raises:
            RuntimeError: the transport cannot hand it over.
        """
        missing = self._missing(held)
        for index in [WHOLE, *range(len(self.changes))] if missing is None else missing:
            self._tensors(index)

    def unpacked(self) -> Tensors:
        """This version's weights by Hugging Face name.

        Raises:
            RuntimeError: the transport cannot hand them over.
        """
        base = self._tensors(WHOLE)
        if not self.changes:
            return base
        from trainer_core.update.formats.changes import Changed  # torch is not for every reader of a bundle

        return Changed(base, [self._tensors(index) for index in range(len(self.changes))])

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

    def _tensors(self, index: int) -> Tensors:
        """Tensors of a change, or of the whole weights (``WHOLE``)."""
        if index not in self._fetched:
            packed = self.tensors if index == WHOLE else self.changes[index].packed
            self._fetched[index] = TRANSPORTS[self.transport].unpack(packed)
        return self._fetched[index]

    def _missing(self, held: str | None) -> range | None:
        """Places of the changes that an engine lacks which holds those weights; None where it needs the whole."""
        keys = [one.before for one in self.changes]
        return range(keys.index(held), len(keys)) if held is not None and held in keys else None

    def _load_changes(self, engine: ChangeReceiver, kv: Kv) -> bool:
        found = self._missing(engine.weights_key)
        if found is None:
            return False
        missing = [self.changes[index] for index in found]
        chain = [self._tensors(index) for index in found]
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

    def layers(self, *, on_device: bool = False) -> Iterator[Tensors]:
        """All weights, layer by layer; a layer's may be read until the next is asked for. In host memory, unless they
        are asked for where they are.
        """

    def score(self, sequences: Sequence[Sequence[int]]) -> list[list[float]]:
        """Log-probability of each token but the first."""

    def score_rounded_otherwise(self, sequences: Sequence[Sequence[int]]) -> list[list[float]] | None:
        """The same with other roundings than the engine's; None where nothing is rounded to 16 bits or fewer."""


@dataclass(frozen=True, slots=True)
class WeightHandle:
    """A published version, to be handed on to engines: whoever does so need not know how it travels."""

    version: int
    transport: str
    """Name of the transport of its tensors."""
    why: str
    """Reason for that transport, as a clause; empty where nothing was chosen."""
    _bundle: Any
    """Reference to the bundle in Ray's store; its owner is rank 0, and it is gone when that has ended."""

    @classmethod
    def of(cls, bundle: WeightBundle, why: str = "") -> WeightHandle:
        """The handle of a bundle that this process owns from now on."""
        return cls(bundle.version, bundle.transport, why, ray.put(bundle))

    def open(self) -> WeightBundle:
        """The bundle. Its tensors may still be elsewhere."""
        found: WeightBundle = ray.get(self._bundle)
        return found


def bundle(
    learner: Publisher,
    sequences: list[list[int]],
    publication: Publication | None = None,
    witness: Witness | None = None,
    *,
    whole: bool = False,
) -> WeightBundle:
    """The learner's weights as they are now, with the probe scored by the same version.

    Args:
        learner: gives weights and scores.
        sequences: the probe.
        publication: what was published before, which it adds to; without one the weights are whole, in Ray's store.
        witness: what was testified of the version before; without one nothing is known of it.
        whole: whether the weights travel whole, whatever was published before.
    """
    sampler = Sampler(learner.version, learner.engine_fp8)
    publication = publication or Publication(TRANSPORTS[OBJECT_STORE])
    # Learners of CPUs, and stand-ins, know no other place.
    given = learner.layers(on_device=True) if publication.transport.on_device else learner.layers()
    layers = sampler.following(given)
    publication.add(learner.version, layers, whole=whole)
    scores, others = learner.score(sequences), learner.score_rounded_otherwise(sequences)
    evidence = (witness or Witness()).testify(learner.version, sampler.sample, sequences, scores, others)
    return WeightBundle(
        learner.version,
        publication.base,
        sequences,
        scores,
        publication.transport.name,
        publication.base_key,
        publication.chain,
        evidence,
    )


def publish(
    learner: Publisher,
    sequences: list[list[int]],
    publication: Publication | None = None,
    witness: Witness | None = None,
    *,
    whole: bool = False,
    why: str = "",
) -> WeightHandle:
    """Publish the learner's weights; see ``bundle``. ``why``: reason for the transport, for people to read."""
    return WeightHandle.of(bundle(learner, sequences, publication, witness, whole=whole), why)
