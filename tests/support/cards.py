"""Whether this machine has a card, and the words in which what needs one is skipped."""

import torch


def missing_card() -> str | None:
    """Reason why nothing can run on a GPU here, in one sentence; None where something can."""
    if torch.cuda.is_available():
        return None
    if torch.version.cuda is None:
        return f"No CUDA device: the installed torch {torch.__version__} was built without CUDA"
    return f"No CUDA device: torch {torch.__version__} was built for CUDA {torch.version.cuda} and sees no GPU"
