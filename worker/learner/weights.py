"""Versioned weights from the learner to a rollout engine, verified by a probe.

A checksum can show that bytes have arrived, not that the engine computes with them. So the learner scores fixed token
sequences with exactly the weights it publishes, and each engine must produce the same log-probabilities before it may
generate with the version (``worker/learner/probe``).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import ray

from trainer_core.update.formats.quantise import Scales
from worker.errors import WeightsUnread
from worker.learner.probe.evidence import Evidence, Sampler, Witness
from worker.learner.publication import Changes, Publication
from worker.learner.transport import OBJECT_STORE, TRANSPORTS, Tensors

log = logging.getLogger(__name__)

Kv = Literal["keep", "recompute"]
WHOLE = -1


class WeightReceiver(Protocol):
    """Interface of an engine that a bundle needs."""

    def load_weights(self, version: int, tensors: Tensors, *, kv: Kv) -> None:
        """Serve these weights from now on."""


@runtime_checkable
class ChangeReceiver(Protocol):
    """Interface of an engine that can apply changes to its weights."""

    weights_key: str | None
    """Key of the weights that it holds; None if unknown."""

    def load_weights(self, version: int, tensors: Tensors, *, kv: Kv) -> None:
        """Serve these weights from now on."""

    def load_changes(
        self, version: int, chain: Sequence[Tensors], digests: Mapping[str, bytes], *, kv: Kv
    ) -> str | None:
        """Apply changes in order and verify the result by the digests. Returns the reason if that is not possible."""


@dataclass(frozen=True)
class WeightBundle:
    """One version of the weights with the evidence to check them. The tensors are where their transport put them."""

    version: int
    tensors: Any
    """Whole weights as their transport has packed them, of this version or an earlier one; see ``changes``."""
    probe_sequences: list[list[int]]
    probe_logprobs: list[list[float]]
    """Learner's natural-log probability of each probe token but the first, at temperature 1."""
    transport: str = OBJECT_STORE
    """Name of the transport that packed the tensors."""
    base_key: str = ""
    """Key of the weights in ``tensors``; empty if no changes will ever refer to them."""
    changes: tuple[Changes, ...] = ()
    """Changes between ``tensors`` and this version, in order."""
    evidence: Evidence = field(default_factory=Evidence)
    """Sampled values of the tensors, and the other evidence for the probe."""

    _fetched: dict[int, Tensors] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Tensors already fetched by this process: by index in ``changes``, and the whole weights by ``WHOLE``."""

    def __getstate__(self) -> dict[str, Any]:
        """Return everything except the fetched tensors, which do not travel to another process."""
        return {**self.__dict__, "_fetched": {}}

    def fetch(self, held: str | None) -> None:
        """Fetch what ``load_into`` needs, for an engine that holds the weights ``held`` and continues to generate.

        Raises:
            WeightsUnread: the transport cannot deliver it.
        """
        missing = self._missing(held)
        for index in [WHOLE, *range(len(self.changes))] if missing is None else missing:
            self._tensors(index)

    def unpacked(self) -> Tensors:
        """This version's weights by Hugging Face name.

        Raises:
            WeightsUnread: the transport cannot deliver them.
        """
        base = self._tensors(WHOLE)
        if not self.changes:
            return base
        from trainer_core.update.formats.changes import Changed  # not every reader of a bundle needs torch

        return Changed(base, [self._tensors(index) for index in range(len(self.changes))])

    def load_into(self, engine: WeightReceiver, *, kv: Kv = "recompute", whole: bool = False) -> None:
        """Have an engine serve this version. If it holds an earlier one, load the changes, else the whole.

        Args:
            engine: the engine.
            kv: what happens to the keys and values of running sequences.
            whole: whether it must get the whole weights, whatever it holds.
        """
        changeable = engine if isinstance(engine, ChangeReceiver) else None
        if changeable is not None and not whole and self._load_changes(changeable, kv):
            return
        engine.load_weights(self.version, self.unpacked(), kv=kv)
        if changeable is not None:
            changeable.weights_key = self.key

    @property
    def key(self) -> str | None:
        """Name of exactly these weights; None if they have none."""
        return (self.changes[-1].after if self.changes else self.base_key) or None

    def _tensors(self, index: int) -> Tensors:
        """Tensors of a change, or of the whole weights (``WHOLE``)."""
        if index not in self._fetched:
            packed = self.tensors if index == WHOLE else self.changes[index].packed
            try:
                self._fetched[index] = TRANSPORTS[self.transport].unpack(packed)
            except (RuntimeError, OSError) as error:
                raise WeightsUnread(str(error)) from error
        return self._fetched[index]

    def _missing(self, held: str | None) -> range | None:
        """Indices of the changes that an engine with the weights ``held`` lacks; None if it needs the whole."""
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
            # The last version that touched a tensor decides its digest; one that came whole needs none.
            digests = {name: found for name, found in digests.items() if name not in tensors} | dict(one.digests)
        reason = engine.load_changes(self.version, chain, digests, kv=kv)
        if reason is not None:
            log.warning("weights %d: the changes were not applied (%s); loading all weights", self.version, reason)
            return False
        engine.weights_key = self.key
        return True


class Publisher(Protocol):
    """Interface of a learner that ``publish`` needs."""

    version: int
    engine_fp8: Scales | None
    """Scales of the matrices that the engines hold in FP8; None if they hold none."""

    def layers(self, *, on_device: bool = False) -> Iterator[Tensors]:
        """All weights, layer by layer. A layer's tensors may be read until the next layer is requested. They are in
        host memory; with ``on_device`` they are where the learner has them.
        """

    def score(self, sequences: Sequence[Sequence[int]]) -> list[list[float]]:
        """Log-probability of each token but the first."""

    def score_rounded_otherwise(self, sequences: Sequence[Sequence[int]]) -> list[list[float]] | None:
        """The same with other roundings than the engine's; None if nothing is rounded to 16 bits or fewer."""


@dataclass(frozen=True, slots=True)
class WeightHandle:
    """A published version to pass on to engines. The caller need not know how it travels."""

    version: int
    transport: str
    """Name of the transport of its tensors."""
    why: str
    """Reason for that transport, as a clause; empty if none was chosen."""
    _bundle: Any
    """Reference to the bundle in Ray's store. Rank 0 owns it, and it is gone when rank 0 has ended."""

    @classmethod
    def of(cls, bundle: WeightBundle, why: str = "") -> WeightHandle:
        """The handle of a bundle, which this process owns from now on."""
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
    """The learner's current weights, with the probe scored by the same version.

    Args:
        learner: provides weights and scores.
        sequences: the probe.
        publication: what was published before; this version is added to it. Without one the weights are whole, in
            Ray's store.
        witness: evidence of the previous version; without one nothing is known of it.
        whole: whether the weights travel whole, whatever was published before.
    """
    sampler = Sampler(learner.version, learner.engine_fp8)
    publication = publication or Publication(TRANSPORTS[OBJECT_STORE])
    # CPU learners and stand-ins do not accept ``on_device``.
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
    """Publish the learner's weights; see ``bundle``. ``why``: human-readable reason for the transport."""
    return WeightHandle.of(bundle(learner, sequences, publication, witness, whole=whole), why)
