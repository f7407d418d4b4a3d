"""Beat rings tasks that a worker of the platform knows, under the names that they have had in every release."""

from dressage.celery import app


def test_every_task_of_the_schedule_is_registered() -> None:
    app.loader.import_default_modules()
    scheduled = {entry["task"] for entry in app.conf.beat_schedule.values()}
    sweeps = {
        "jobs.sweep",
        "policies.sweep_leftovers",
        "policies.sweep_imports",
        "datasets.sweep_imports",
        "datasets.sweep_uploads",
        "datasets.sweep_versions",
        "lab.sweep",
        "teams.sweep",
    }
    assert scheduled == {"runs.reconcile", "runs.ask_clusters", "runs.roll_up", *sweeps}
    assert scheduled <= app.tasks.keys()
