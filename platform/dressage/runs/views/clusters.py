"""Clusters: what members see of them, and what their workers report. GPU hours of the team."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from dressage.clusters.selectors import cluster_names
from dressage.clusters.services import take_report
from dressage.common.api.problems import not_found, validated
from dressage.common.scopes import Noun
from dressage.runs.facts import cluster_documents
from dressage.runs.facts.serializers import ClusterListSerializer, GpuHoursSerializer
from dressage.runs.link.cluster import ClusterAuthentication, IsCluster
from dressage.runs.link.parser import LinkParser
from dressage.runs.link.version import VersionedLinkView
from dressage.teams.api import ApiView, TeamRequest
from trainer_core.link.cluster import ClusterReport


class ClustersView(ApiView):
    """All clusters. They belong to no team."""

    noun = Noun.RUNS

    @extend_schema(operation_id="listClusters", tags=["clusters"], responses=ClusterListSerializer)
    def get(self, request: TeamRequest) -> Response:
        """The installation's clusters: sizes, places, and the caller's team's runs on each. Of other teams' runs it
        tells how many places they hold and nothing else."""
        return Response({"object": "list", "data": cluster_documents.clusters(request.team)})


class GpuHoursView(ApiView):
    """GPU hours of the caller's team."""

    noun = Noun.TEAM

    @extend_schema(operation_id="getTeamGpuHours", tags=["clusters"], responses=GpuHoursSerializer)
    def get(self, request: TeamRequest) -> Response:
        """What the team has used of its GPU hours in this month, and what used most of them."""
        return Response(cluster_documents.gpu_hours(request.team))


class ClusterReportView(VersionedLinkView):
    """A worker of a cluster tells its size."""

    authentication_classes = (ClusterAuthentication,)
    permission_classes = (IsCluster,)
    parser_classes = (LinkParser,)

    @extend_schema(exclude=True)
    def post(self, request: Request, name: str) -> Response:
        """Keep the report."""
        if name not in cluster_names():
            raise not_found("cluster")
        take_report(name, validated(ClusterReport, request.data))
        return Response(status=status.HTTP_204_NO_CONTENT)

    def give_up(self, reason: str) -> None:
        """End nothing: a worker that is refused here begins no run either, and its runs are told."""
