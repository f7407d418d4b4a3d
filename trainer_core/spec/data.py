"""Where the prompts come from."""

from trainer_core.spec.base import SpecModel, field


class DataSource(SpecModel):
    """One source of prompts: an immutable dataset version and its share of the mixture."""

    name: str = field(pattern=r"^[a-z0-9][a-z0-9_\-]{0,62}$")
    """Short name of the source in charts and controls."""
    dataset: str = field(widget="dataset", pattern=r"^[a-z0-9][a-z0-9_\-]{0,62}@[0-9]+$")
    """Dataset version as ``slug@version``."""
    weight: float = field(1.0, ge=0.0, le=1e6, steer="group_dispatch", widget="slider")
    """Relative share of dispatched prompt groups that come from this source."""


class Data(SpecModel):
    """Training prompts."""

    sources: tuple[DataSource, ...] = field(min_length=1, max_length=64)
    """The mixture. Names must be unique; at least one weight must be above zero."""
