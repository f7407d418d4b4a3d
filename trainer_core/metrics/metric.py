"""One metric of the registry."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Metric:
    """One entry of the registry."""

    name: str
    title: str
    unit: str
    formula: str
    group: str
    """Heading under which its charts are listed."""
    aliases: dict[str, str] = field(default_factory=dict)
    """Names of the same quantity in other frameworks."""
