"""Beat sends tasks that a worker of the platform knows, under names that stay the same from release to release."""

from dressage.celery import app


def test_every_task_of_the_schedule_is_registered() -> None:
    app.loader.import_default_modules()
    scheduled = {entry["task"] for entry in app.conf.beat_schedule.values()}
    sweeps = {
        "jobs.sweep",
        "policies.sweep_leftovers",
        "datasets.sweep_uploads",
        "datasets.sweep_versions",
        "teams.sweep",
    }
    assert scheduled == {"runs.reconcile", "runs.ask_clusters", "runs.roll_up", *sweeps}
    assert scheduled <= app.tasks.keys()
