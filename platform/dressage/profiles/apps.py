"""Django application of profiles."""

from django.apps import AppConfig


class ProfilesConfig(AppConfig):
    """Holds the tables of profiles."""

    name = "dressage.profiles"
    label = "profiles"

    def ready(self) -> None:
        from dressage.datasets.pins import register_finder_of_pins
        from dressage.profiles.dataset_pins import goldilocks_with_rows, profiles_with_rows

        register_finder_of_pins(profiles_with_rows)
        register_finder_of_pins(goldilocks_with_rows)
