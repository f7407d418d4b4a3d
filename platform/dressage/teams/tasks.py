"""Celery tasks of teams."""

from celery import shared_task
from django.utils.dateparse import parse_datetime

from dressage.teams.accounts.log import forget_old_events, record_failed_sign_in
from dressage.teams.sessions.life import remove_ended_sessions


@shared_task(name="teams.sweep")
def sweep() -> None:
    """Sent by beat every hour: removes ended sessions and old events of accounts."""
    remove_ended_sessions()
    forget_old_events()


@shared_task(name="teams.record_failed_sign_in")
def failed_sign_in(email: str, address: str, device: str, at: str) -> None:
    """Count a wrong password. Running it twice counts it twice, which does no harm."""
    record_failed_sign_in(email, address=address, device=device, now=parse_datetime(at))
