"""Transports: how the tensors of a version of the weights get from the learner to the engines.

``worker/learner/weights.py`` builds the bundle around them; ``worker/learner/probe`` proves that they arrived whole.
``choice.py`` selects the transport of a run.
"""

from worker.learner.transport.base import Tensors, WeightTransport
from worker.learner.transport.cuda_ipc import CudaIpc
from worker.learner.transport.distributed import Distributed
from worker.learner.transport.files import Files
from worker.learner.transport.object_store import ObjectStore
from worker.learner.transport.shared_memory import SharedMemory

__all__ = ["OBJECT_STORE", "TRANSPORTS", "Tensors", "WeightTransport"]

OBJECT_STORE = ObjectStore.name
TRANSPORTS: dict[str, WeightTransport] = {
    transport.name: transport for transport in (ObjectStore(), SharedMemory(), CudaIpc(), Distributed(), Files())
}
"""The transports by name. A bundle names the transport that packed it, so every reader unpacks it with the same one."""
