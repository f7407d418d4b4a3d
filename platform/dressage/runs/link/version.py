"""The link's version, in every request and response. An incompatible worker is refused, and its user is notified."""

from abc import ABC, abstractmethod
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dressage.common.api.problems import conflict
from trainer_core.link import version
from trainer_core.link.limits import MAX_REQUEST_BYTES
from trainer_core.link.refusal import LINK_VERSION_CODE


class VersionedLinkView(APIView, ABC):
    """Base of the link's views: returns 409 to workers whose messages this platform cannot read."""

    max_body_bytes = MAX_REQUEST_BYTES

    @abstractmethod
    def give_up(self, reason: str) -> None:
        """End the worker's task, with a reason for the user who requested it."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check a worker's token first, then its version."""
        super().initial(request, *args, **kwargs)
        objection = version.objection_to_worker(request.headers.get(version.HEADER))
        if objection is not None:
            self.give_up(objection)
            raise conflict(objection, code=LINK_VERSION_CODE)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Response:
        """Add the version that this platform speaks, to refusals too."""
        answer = super().finalize_response(request, response, *args, **kwargs)
        answer[version.HEADER] = str(version.LINK_VERSION)
        return answer
