"""Messages of teams to the platform's queue."""

import structlog
from django.utils import timezone
from kombu.exceptions import OperationalError

from dressage.celery import app

logger = structlog.get_logger(__name__)


def enqueue_failed_sign_in(email: str, *, address: str, device: str) -> None:
    """Have a wrong password counted, of an account that may not exist.

    It is not counted in the request, which would take longer for an account that there is, and so tell of it.
    """
    arguments = {"email": email, "address": address, "device": device, "at": timezone.now().isoformat()}
    try:
        app.send_task(
            "teams.record_failed_sign_in", kwargs=arguments, queue="platform", retry=False, ignore_result=True
        )
    except (OperationalError, OSError) as error:
        logger.warning("message lost", task="teams.record_failed_sign_in", error=str(error))
