"""Clusters: what members can see of them, and what their workers report. GPU hours of the team."""

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
        """The installation's clusters: sizes, slots, and the runs of your team on each. For other teams, it only shows
        how many slots they hold."""
        return Response({"object": "list", "data": cluster_documents.clusters(request.team)})


class GpuHoursView(ApiView):
    """GPU hours of the caller's team."""

    noun = Noun.TEAM

    @extend_schema(operation_id="getTeamGpuHours", tags=["clusters"], responses=GpuHoursSerializer)
    def get(self, request: TeamRequest) -> Response:
        """The GPU hours that the team has used this month, and the runs that used the most."""
        return Response(cluster_documents.gpu_hours(request.team))


class ClusterReportView(VersionedLinkView):
    """A size report from a cluster's worker."""

    authentication_classes = (ClusterAuthentication,)
    permission_classes = (IsCluster,)
    parser_classes = (LinkParser,)

    @extend_schema(exclude=True)
    def post(self, request: Request, name: str) -> Response:
        """Store the report."""
        if name not in cluster_names():
            raise not_found("cluster")
        take_report(name, validated(ClusterReport, request.data))
        return Response(status=status.HTTP_204_NO_CONTENT)

    def give_up(self, reason: str) -> None:
        """Do nothing: a worker that is refused here cannot start runs either, and its runs report the reason."""
