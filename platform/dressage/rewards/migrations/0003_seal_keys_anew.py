"""Keys of judges leave the key that was made of the Django secret for the installation's encryption key."""

from typing import Any

from django.db import migrations

from dressage.rewards.judges.secrets import UnsealError, seal, unseal


def seal_anew(apps: Any, schema_editor: Any) -> None:
    """Seal what can be read under the present key; what cannot stays, and its judge says so."""
    for judge in apps.get_model("rewards", "JudgeEndpoint").objects.exclude(api_key_sealed=""):
        try:
            judge.api_key_sealed = seal(unseal(judge.api_key_sealed))
        except UnsealError:
            continue
        judge.save(update_fields=["api_key_sealed"])


class Migration(migrations.Migration):

    dependencies = [("rewards", "0002_judges_bench_proposals")]

    operations = [migrations.RunPython(seal_anew, migrations.RunPython.noop)]
