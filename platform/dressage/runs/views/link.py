"""The link's endpoints. They connect platform and workers, so the public schema omits them."""

from http import HTTPStatus
from typing import cast

from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from dressage.common.api.problems import conflict, not_found, validated
from dressage.runs.link.auth import IsOwnRun, LinkAuthentication, require_current
from dressage.runs.link.bundle import hand_out
from dressage.runs.link.cluster import ClusterAuthentication, IsCluster
from dressage.runs.link.datasets import send_dataset, send_difficulty
from dressage.runs.link.lost import report_lost
from dressage.runs.link.parser import LinkParser
from dressage.runs.link.sync import sync
from dressage.runs.link.traces import TraceParser, take_trace
from dressage.runs.link.version import VersionedLinkView
from dressage.runs.models import Attempt
from dressage.runs.needs.references import dataset_references
from dressage.runs.recovery.attempts import fail_attempt
from dressage.runs.tokens import link_token
from dressage.teams.models import Team
from trainer_core.link.admission import Admission
from trainer_core.link.sync import SyncRequest
from trainer_core.spec import RunSpec


class LinkView(VersionedLinkView):
    """Base: accepts only the attempt's own token, for its own run."""

    authentication_classes = (LinkAuthentication,)
    permission_classes = (IsOwnRun,)
    parser_classes: tuple[type[BaseParser], ...] = (LinkParser,)

    @property
    def attempt(self) -> Attempt:
        """The calling attempt; ``IsOwnRun`` has rejected all others."""
        attempt = self.request.auth
        assert isinstance(attempt, Attempt)
        return attempt

    def give_up(self, reason: str) -> None:
        """Fail the run, unless the attempt is not the run's current one."""
        fail_attempt(self.attempt.id, reason)


class AttemptView(VersionedLinkView):
    """Base: an attempt as the cluster's Celery worker, which has no token of it, may address it."""

    authentication_classes = (ClusterAuthentication,)
    permission_classes = (IsCluster,)

    def give_up(self, reason: str) -> None:
        """Fail the run, unless the attempt is not the run's current one."""
        fail_attempt(self._attempt().id, reason)

    def _attempt(self) -> Attempt:
        found = Attempt.objects.select_related("run").filter(run=self.kwargs["run_id"], number=self.kwargs["number"])
        attempt = found.first()
        if attempt is None:
            raise not_found("attempt")
        return attempt


class AttemptTokenView(AttemptView):
    """Gives a worker of the cluster the token of an attempt that has not started."""

    @extend_schema(exclude=True)
    def post(self, request: Request, run_id: str, number: int) -> Response:
        """The token, until the attempt's first sync. A worker that missed the answer asks again."""
        attempt = self._attempt()
        require_current(attempt, attempt.run)
        if attempt.first_sync_at is not None:
            raise conflict(f"Attempt {number} has begun: its token is not issued again.", code="token_taken")
        return Response(Admission(token=link_token(run_id, number)).wire())


class AttemptLostView(AttemptView):
    """Takes note of an attempt whose controller the cluster has found dead."""

    @extend_schema(exclude=True)
    def post(self, request: Request, run_id: str, number: int) -> Response:
        """The next attempt begins. 409 if the attempt is over, has not begun, or has just synced."""
        report_lost(self._attempt().id, "its controller died")
        return Response({})


class SyncView(LinkView):
    @extend_schema(exclude=True)
    def post(self, request: Request, run_id: str) -> Response:
        """Events up, commands down, and renewal of the lease."""
        return Response(sync(self.attempt.id, validated(SyncRequest, request.data)).wire())


class TraceView(LinkView):
    parser_classes = (TraceParser,)

    @extend_schema(exclude=True)
    def put(self, request: Request, run_id: str, step: int, number: int) -> Response:
        """A file with samples of a step and their tokens. 201; 200 if it was already stored."""
        fresh = take_trace(self.attempt, step, number, cast(bytes, request.data))
        return Response({}, status=HTTPStatus.CREATED if fresh else HTTPStatus.OK)


class BundleView(LinkView):
    @extend_schema(exclude=True)
    def get(self, request: Request, run_id: str) -> Response:
        """Bundle that the attempt needs to start."""
        require_current(self.attempt, self.attempt.run)
        return Response(hand_out(self.attempt).wire())


class LinkDatasetView(LinkView):
    @extend_schema(exclude=True)
    def get(self, request: Request, run_id: str, ref: str) -> HttpResponseBase:
        """The Parquet file of a dataset version that the run's spec names."""
        return send_dataset(request, self._team(ref), ref)

    def _team(self, ref: str) -> Team:
        """The run's team. Raises a 404 problem if the spec does not name the version."""
        run = self.attempt.run
        require_current(self.attempt, run)
        if ref not in {named for _, named in dataset_references(RunSpec.model_validate(run.effective_spec))}:
            raise not_found("dataset version")
        return run.team


class LinkDifficultyView(LinkDatasetView):
    @extend_schema(exclude=True)
    def get(self, request: Request, run_id: str, ref: str) -> HttpResponseBase:
        """The Parquet file of the version's row notes ``difficulty``."""
        return send_difficulty(request, self._team(ref), ref)
