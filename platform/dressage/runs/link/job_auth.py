"""The authentication of the worker of one job, of the bench or of a rehearsal: a secret that is good for it alone."""

from typing import Any

from django.contrib.auth.models import AnonymousUser
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from dressage.common.secrets import secret_hash
from dressage.jobs.models import ClusterJob


class JobAuthentication(BaseAuthentication):
    """``Authorization: Bearer <the kind's prefix>…``; ``request.auth`` is the job."""

    def __init__(self, model: type[ClusterJob]) -> None:
        """``model`` is the kind of the jobs."""
        self._model = model

    def authenticate(self, request: Request) -> tuple[Any, ClusterJob]:
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not secret.startswith(self._model.token_prefix):
            raise AuthenticationFailed("The link needs the job's token.", code="invalid_token")
        digest = {"token_sha256": secret_hash(secret.strip())}
        job = self._model.objects.select_related("team").filter(**digest).first()
        if job is None:
            raise AuthenticationFailed("The link token is unknown.", code="invalid_token")
        return AnonymousUser(), job

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="link"'


class IsOwnJob(BasePermission):
    """The token is for the job in the address."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not isinstance(request.auth, ClusterJob):
            return False
        if request.auth.id != view.kwargs["job_id"]:
            raise PermissionDenied("This token is for another job.", code="foreign_token")
        return True
