"""REST views of imports."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent
from dressage.common.api.paging import page_query
from dressage.common.api.permissions import IsEditor
from dressage.common.scopes import Noun
from dressage.policies.imports import selectors, services
from dressage.policies.imports.serializers import PolicyImportSerializer, StartImportSerializer
from dressage.teams.api import ApiView, TeamRequest


class PolicyImportsView(ApiView):
    """All imports."""

    noun = Noun.POLICIES
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409, 429)}
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listPolicyImports", tags=["policies"], responses=PolicyImportSerializer(many=True))
    def get(self, request: TeamRequest) -> Response:
        """List the team's imports of policies with their progress, newest first."""
        return self.page(selectors.imports(request.team), PolicyImportSerializer)

    @extend_schema(
        operation_id="startPolicyImport",
        tags=["policies"],
        request=StartImportSerializer,
        responses={201: PolicyImportSerializer},
    )
    @idempotent
    def post(self, request: TeamRequest) -> Response:
        """Import a policy from the hub or a bucket, in the background. Only safetensors and plain files are fetched."""
        row = services.start_import(request.team, request.actor, **self.body(StartImportSerializer))
        return Response(PolicyImportSerializer(row).data, status=status.HTTP_201_CREATED)


class PolicyImportView(ApiView):
    """One import."""

    noun = Noun.POLICIES

    @extend_schema(operation_id="getPolicyImport", tags=["policies"], responses=PolicyImportSerializer)
    def get(self, request: TeamRequest, import_id: str) -> Response:
        """Return an import with its progress."""
        return Response(PolicyImportSerializer(selectors.policy_import(request.team, import_id)).data)


class CancelImportView(ApiView):
    """Cancellation of an import."""

    noun = Noun.POLICIES
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409,)}
    without_body = frozenset({"POST"})

    @extend_schema(operation_id="cancelPolicyImport", tags=["policies"], request=None, responses=PolicyImportSerializer)
    @idempotent
    def post(self, request: TeamRequest, import_id: str) -> Response:
        """Cancel an import, or dismiss a failed one. Its files are removed."""
        row = selectors.policy_import(request.team, import_id)
        return Response(PolicyImportSerializer(services.cancel_import(request.team, request.actor, row)).data)


class RetryImportView(ApiView):
    """Retry of an import."""

    noun = Noun.POLICIES
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409, 429)}
    without_body = frozenset({"POST"})

    @extend_schema(operation_id="retryPolicyImport", tags=["policies"], request=None, responses=PolicyImportSerializer)
    @idempotent
    def post(self, request: TeamRequest, import_id: str) -> Response:
        """Retry an import that failed or was cancelled. Files that were already fetched are not fetched again."""
        row = selectors.policy_import(request.team, import_id)
        return Response(PolicyImportSerializer(services.retry_import(request.team, request.actor, row)).data)
