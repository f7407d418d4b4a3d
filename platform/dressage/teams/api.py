"""The base of the API's views, which act for the caller's team: they check, and call services and selectors."""

from typing import Any, ClassVar

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from dressage.common.actors import Actor
from dressage.common.api import allowance
from dressage.common.api.paging import CursorPage
from dressage.common.api.permissions import RoleByMethod
from dressage.common.api.query import NOTHING, Query
from dressage.common.api.unknown_members import read_body, refuse_any
from dressage.common.roles import Role
from dressage.teams.models import Team, User


class TeamRequest(Request):
    """A request as views see it after ``dressage.teams.authentication`` has identified the caller."""

    team: Team
    role: Role
    actor: Actor
    user: User


class ApiView(RoleByMethod, APIView):
    """Base of views: ``roles`` names who may write, ``problem_statuses`` the additional problems of each method.

    ``queries`` declares the query parameters of each method; ``self.query`` holds their values. Any others are refused.
    So are members of a body that its serializer does not have, and any member if the method is in ``without_body``.
    """

    request: TeamRequest
    pagination_class: ClassVar[type[CursorPage]] = CursorPage
    problem_statuses: ClassVar[dict[str, tuple[int, ...]]] = {}
    queries: ClassVar[dict[str, Query]] = {}
    without_body: ClassVar[frozenset[str]] = frozenset()
    """Methods that write and accept no body, in addition to DELETE."""
    takes_unenrolled: ClassVar[bool] = False
    """Whether sessions without a second factor may call it when the installation requires one."""
    query: dict[str, Any]
    takes_temporary_passwords: ClassVar[bool] = False
    """Whether sessions may call it whose password someone else has seen."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Admit the caller, then parse the query. Raises a 422 problem for input that the operation does not take."""
        super().initial(request, *args, **kwargs)
        allowance.begin(str(getattr(getattr(request, "team", None), "pk", "")))
        method = "GET" if request.method == "HEAD" else request.method or ""
        self.query = self.queries.get(method, NOTHING).read(request.query_params)
        if method == "DELETE" or method in self.without_body:
            refuse_any(request.data)

    def body(self, serializer_class: type[BaseSerializer]) -> dict[str, Any]:
        """The validated body. Raises a 422 problem that names each fault, unknown members included."""
        return read_body(serializer_class(data=self.request.data))

    def page(self, queryset: QuerySet, serializer_class: type[BaseSerializer]) -> Response:
        """One page of ``queryset``."""
        paginator = self.pagination_class()
        rows = paginator.paginate_queryset(queryset, self.request, self)
        document = serializer_class(rows, many=True, context={"role": self.request.role}).data
        return paginator.get_paginated_response(document)
