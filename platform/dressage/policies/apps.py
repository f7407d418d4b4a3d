"""Django application of policies."""

from django.apps import AppConfig


class PoliciesConfig(AppConfig):
    """Django app of policies; the package docstring says more."""

    name = "dressage.policies"
    label = "policies"

    def ready(self) -> None:
        from dressage.common.sealing import register_sealed
        from dressage.policies.access.services import seal_credentials_anew

        register_sealed(seal_credentials_anew)
