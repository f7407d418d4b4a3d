"""The authentication of a bench job's worker: a secret that is good for one job."""

from typing import Any

from django.contrib.auth.models import AnonymousUser
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from dressage.bench.tokens import PREFIX
from dressage.common.secrets import secret_hash
from dressage.rewards.models import BenchJob


class BenchLinkAuthentication(BaseAuthentication):
    """``Authorization: Bearer bnc_…``; ``request.auth`` is the job."""

    def authenticate(self, request: Request) -> tuple[Any, BenchJob]:
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not secret.startswith(PREFIX):
            raise AuthenticationFailed("The link needs the job's token.", code="invalid_token")
        job = BenchJob.objects.select_related("team").filter(token_sha256=secret_hash(secret.strip())).first()
        if job is None:
            raise AuthenticationFailed("The link token is unknown.", code="invalid_token")
        return AnonymousUser(), job

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="link"'


class IsOwnJob(BasePermission):
    """The token is for the job in the address."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not isinstance(request.auth, BenchJob):
            return False
        if request.auth.id != view.kwargs["job_id"]:
            raise PermissionDenied("This token is for another job.", code="foreign_token")
        return True
