"""Runs of before sources had a format: their prompts go on being parsed as they were."""

from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

BEFORE: dict[str, Any] = {
    "chat": False,
    "system": None,
    "suffix": "",
    "thinking": None,
    "effort": None,
    "control_tokens": "tokens",
}


def keep_control_tokens(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Say of every source what held for it until now."""
    runs = apps.get_model("runs", "Run")
    for run in runs.objects.only("id", "spec", "effective_spec").iterator(chunk_size=500):
        specs = {"spec": run.spec, "effective_spec": run.effective_spec}
        if any([_complete(spec) for spec in specs.values()]):
            runs.objects.filter(pk=run.pk).update(**specs)


def _complete(spec: dict[str, Any]) -> bool:
    """Add what is missing. Returns whether anything was."""
    sources = [source for source in spec.get("data", {}).get("sources", []) if "format" not in source]
    for source in sources:
        source["format"] = dict(BEFORE)
    return bool(sources)


class Migration(migrations.Migration):
    dependencies = [("runs", "0008_releasing_workers")]
    operations = [migrations.RunPython(keep_control_tokens, migrations.RunPython.noop)]
