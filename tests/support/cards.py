"""Whether this machine has cards enough, and the words in which what needs them is skipped."""

import torch


def missing_card(count: int = 1) -> str | None:
    """Reason why nothing that takes ``count`` GPUs can run here, in one sentence; None where it can."""
    if not torch.cuda.is_available():
        if torch.version.cuda is None:
            return f"No CUDA device: the installed torch {torch.__version__} was built without CUDA"
        return f"No CUDA device: torch {torch.__version__} was built for CUDA {torch.version.cuda} and sees no GPU"
    found = torch.cuda.device_count()
    return f"Too few CUDA devices: this takes {count}, and torch sees {found}" if found < count else None
