"""Authentication of the cluster itself: who may request the token of an attempt or of a bench job."""

import hmac
import logging
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from trainer_core.link.admission import SCHEME, proof

log = logging.getLogger(__name__)

CLUSTER = "cluster"
"""``request.auth`` of a worker that has proved that it belongs to the cluster."""


class ClusterAuthentication(BaseAuthentication):
    """``Authorization: Cluster <proof for this address>``."""

    def authenticate(self, request: Request) -> tuple[Any, str]:
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        expected = proof(settings.CLUSTER_SECRET, settings.LINK_URL, request.path_info)
        if scheme.lower() != SCHEME.lower() or not hmac.compare_digest(given.strip().encode(), expected.encode()):
            log.warning(
                "a request for a token is refused at %r: its proof is missing, made with another"
                " DRESSAGE_CLUSTER_SECRET, or made for an address other than %s",
                request.path_info,
                settings.LINK_URL,
            )
            detail = (
                "Only the cluster may request a token. Check that DRESSAGE_CLUSTER_SECRET is the same on both sides."
            )
            raise AuthenticationFailed(detail, code="invalid_token")
        return AnonymousUser(), CLUSTER

    def authenticate_header(self, request: Request) -> str:
        return f'{SCHEME} realm="link"'


class IsCluster(BasePermission):
    """Only workers that have proved that they belong to the cluster."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return request.auth == CLUSTER
