"""The error of an engine that does not compute with the weights it was given."""


class ProbeFailed(RuntimeError):
    """The engine does not compute with the weights it was given. It must not generate until a version passes."""

    def __init__(self, version: int, max_abs_diff: float, tolerance: float, where: str) -> None:
        super().__init__(
            f"weights {version}: engine and learner differ by {max_abs_diff:.4g} nats at {where}; "
            f"the tolerance is {tolerance:.4g}"
        )
        self.version, self.max_abs_diff, self.tolerance, self.where = version, max_abs_diff, tolerance, where

    def __reduce__(self) -> tuple[type["ProbeFailed"], tuple[int, float, float, str]]:
        """Rebuilt from its figures where Ray hands it to the caller: an exception keeps its message alone."""
        return type(self), (self.version, self.max_abs_diff, self.tolerance, self.where)
