"""The link's version, in every request and answer: a worker that does not fit is refused, and its person told."""

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
    """Base of the link's views: answers 409 to workers whose messages this platform does not read."""

    max_body_bytes = MAX_REQUEST_BYTES

    @abstractmethod
    def give_up(self, reason: str) -> None:
        """End what the worker works on, with a sentence for the person who wants it."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Admit a worker: first by its token, then by its version."""
        super().initial(request, *args, **kwargs)
        objection = version.objection_to_worker(request.headers.get(version.HEADER))
        if objection is not None:
            self.give_up(objection)
            raise conflict(objection, code=LINK_VERSION_CODE)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Response:
        """Name the version that this platform speaks, on refusals too."""
        answer = super().finalize_response(request, response, *args, **kwargs)
        answer[version.HEADER] = str(version.LINK_VERSION)
        return answer
