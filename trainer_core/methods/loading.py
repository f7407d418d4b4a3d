"""Loads the formulas of a run before it starts, so that a missing one is found before the first step."""

from trainer_core.methods import advantages, filters, losses
from trainer_core.spec import RunSpec


def load_formulas(spec: RunSpec) -> None:
    """Load the formulas of the loss, the advantage and the filters that ``spec`` names.

    Raises:
        PluginError: one of them is from an installed package and cannot be loaded.
    """
    losses.FORMULAS.of(spec.loss)
    advantages.FORMULAS.of(spec.advantage)
    for chosen in spec.filters:
        filters.FORMULAS.of(chosen)
