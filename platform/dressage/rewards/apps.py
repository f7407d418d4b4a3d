"""Django application of rewards."""

from django.apps import AppConfig


class RewardsConfig(AppConfig):
    """Django app of rewards; the package docstring says more."""

    name = "dressage.rewards"
    label = "rewards"

    def ready(self) -> None:
        from dressage.common.sealing import register_sealed
        from dressage.rewards.checking import check_elsewhere
        from dressage.rewards.judges.services import seal_keys_anew
        from trainer_core.spec.untrusted import set_runner

        set_runner(check_elsewhere)
        register_sealed(seal_keys_anew)
