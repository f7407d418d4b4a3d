"""The error of an engine that does not compute with the weights it was given."""

from collections.abc import Callable
from functools import partial


class ProbeFailed(RuntimeError):
    """The engine does not compute with the weights it was given. It must not generate until a version passes."""

    def __init__(self, version: int, findings: tuple[str, ...], *, by_noise: bool = False) -> None:
        """``by_noise``: only the scores failed, judged by the noise of earlier weights."""
        super().__init__(f"weights {version}: {'; '.join(findings)}")
        self.version, self.findings, self.by_noise = version, findings, by_noise

    def __reduce__(self) -> tuple[Callable[..., "ProbeFailed"], tuple[int, tuple[str, ...]]]:
        """Lets Ray rebuild the error from its parts for the caller: by default an exception keeps only its message."""
        return partial(type(self), by_noise=self.by_noise), (self.version, self.findings)
