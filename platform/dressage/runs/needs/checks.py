"""System checks: messages of the platform when it starts."""

from importlib import import_module
from typing import Any

from django.core.checks import CheckMessage, Warning, register

from trainer_core.spec import plugins


@register()
def plugins_are_loaded(**_: Any) -> list[CheckMessage]:
    """A warning for each plug-in that could not be loaded: its methods are unknown types to all users."""
    for kind in ("trainer_core.spec.run", "trainer_core.rewards.graders"):
        import_module(kind)
    return [
        Warning(f"{plugin} was skipped: {reason}", hint="Fix or uninstall the package, then restart.", id="runs.W001")
        for plugin, reason in plugins.failures.items()
    ]
