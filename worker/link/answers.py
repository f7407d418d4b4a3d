"""Parts of the platform's answers that all of the worker's connections read the same way."""

import httpx
from pydantic import ValidationError

from trainer_core.link import version
from trainer_core.link.refusal import Refusal


def refusal(response: httpx.Response) -> str:
    """Status and reason of an error response, such as ``409: Attempt 1 has been given up``."""
    try:
        detail = Refusal.model_validate_json(response.content).detail
    except ValidationError:
        detail = ""
    return f"{response.status_code}: {detail or response.reason_phrase}"


def objection(response: httpx.Response) -> str | None:
    """Reason why this worker cannot work with the platform that answered; None if the versions fit."""
    return version.objection_to_platform(response.headers.get(version.HEADER))
