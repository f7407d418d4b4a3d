"""Messages of teams to the platform's queue."""

import structlog
from django.utils import timezone
from kombu.exceptions import OperationalError

from dressage.celery import app

logger = structlog.get_logger(__name__)


def enqueue_failed_sign_in(email: str, *, address: str, device: str) -> None:
    """Count a wrong password in the background, for an account that may not exist.

    Counting it in the request would take longer if the account exists, and so reveal that.
    """
    arguments = {"email": email, "address": address, "device": device, "at": timezone.now().isoformat()}
    try:
        app.send_task(
            "teams.record_failed_sign_in", kwargs=arguments, queue="platform", retry=False, ignore_result=True
        )
    except (OperationalError, OSError) as error:
        logger.warning("message lost", task="teams.record_failed_sign_in", error=str(error))
