"""Joint tensors, which hold the matrices of all experts of a layer, viewed as one matrix per expert."""

from collections.abc import Iterator

from torch import Tensor


def matrices(name: str, tensor: Tensor) -> Iterator[tuple[str, Tensor]]:
    """A vector or a matrix unchanged; the matrices of a joint tensor, named ``name[0]``, ``name[1]``, …

    Other shapes, such as those of convolutions, yield nothing.

    Args:
        name: name of the tensor in the checkpoint.
        tensor: [N], [N, D] or, of a joint tensor, [experts, N, D].
    """
    if tensor.ndim in (1, 2):
        yield name, tensor
    elif tensor.ndim == 3 and min(tensor.shape[1:]) > 1:
        for number, matrix in enumerate(tensor):
            yield f"{name}[{number}]", matrix
