"""Celery of the platform: messages and sweeps. PostgreSQL decides who works; a lost message only causes a delay."""

import logging
import os
from typing import Any

from celery import Celery
from celery.signals import heartbeat_sent, setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dressage.settings")

from django.conf import settings

from trainer_core.link.celery_queue import FROM_BEAT, broker_url
from trainer_core.link.heartbeat import show_alive

app = Celery("dressage", broker=broker_url(settings.REDIS_URL))
app.conf.update(
    accept_content=["json"],
    task_serializer="json",
    task_ignore_result=True,
    task_default_queue="platform",
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    broker_connection_retry_on_startup=True,
    worker_prefetch_multiplier=1,
    timezone="UTC",
    beat_schedule={
        "reconcile": {
            "task": "runs.reconcile",
            "schedule": 2.0,
            "options": {"expires": 10, "headers": {FROM_BEAT: "1"}},
        },
        "ask-clusters": {"task": "runs.ask_clusters", "schedule": 2.0, "options": {"expires": 10}},
        "roll-up": {"task": "runs.roll_up", "schedule": 60.0, "options": {"expires": 50}},
        "sweep-jobs": {"task": "jobs.sweep", "schedule": 2.0, "options": {"expires": 10}},
        "sweep-policies": {"task": "policies.sweep_leftovers", "schedule": 3600.0, "options": {"expires": 600}},
        "sweep-uploads": {"task": "datasets.sweep_uploads", "schedule": 3600.0, "options": {"expires": 600}},
        "sweep-versions": {"task": "datasets.sweep_versions", "schedule": 3600.0, "options": {"expires": 600}},
        "sweep-teams": {"task": "teams.sweep", "schedule": 3600.0, "options": {"expires": 600}},
    },
)
app.autodiscover_tasks(
    [
        "dressage.runs",
        "dressage.jobs",
        "dressage.policies",
        "dressage.datasets",
        "dressage.teams",
    ]
)
heartbeat_sent.connect(show_alive)


@setup_logging.connect
def _keep_our_lines(loglevel: int | str | None = None, **_: Any) -> None:
    """Leave the log as Django's settings define it: Celery would write lines in its own format."""
    logging.getLogger().setLevel(loglevel or logging.WARNING)
