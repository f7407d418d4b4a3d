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
    """Heading under which charts are found."""
    aliases: dict[str, str] = field(default_factory=dict)
    """Name of the same quantity in other frameworks."""
