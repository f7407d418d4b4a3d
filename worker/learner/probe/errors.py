"""The error of an engine that does not compute with the weights it was given."""


class ProbeFailed(RuntimeError):
    """The engine does not compute with the weights it was given. It must not generate until a version passes."""

    def __init__(self, version: int, findings: tuple[str, ...]) -> None:
        super().__init__(f"weights {version}: {'; '.join(findings)}")
        self.version, self.findings = version, findings

    def __reduce__(self) -> tuple[type["ProbeFailed"], tuple[int, tuple[str, ...]]]:
        """Rebuilt from its parts where Ray hands it to the caller: an exception keeps its message alone."""
        return type(self), (self.version, self.findings)
