"""Transports: how the tensors of a version of the weights come from the learner to the engines.

``worker/learner/weights.py`` makes the bundle around them; ``worker/learner/probe`` proves that they arrived whole.
"""

from worker.learner.transport.base import Tensors, WeightTransport
from worker.learner.transport.object_store import ObjectStore

__all__ = ["PUBLISHED_BY", "TRANSPORTS", "Tensors", "WeightTransport"]

TRANSPORTS: dict[str, WeightTransport] = {transport.name: transport for transport in (ObjectStore(),)}
"""The transports by name. A bundle names the transport that packed it, so that every reader unpacks it by the same."""
PUBLISHED_BY = ObjectStore.name
"""The transport that the learner packs with."""
