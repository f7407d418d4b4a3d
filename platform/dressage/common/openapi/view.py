"""The OpenAPI document, built once: it is the same for everyone, and takes half a second of processor time."""

from functools import cache
from typing import Any

from django.http import HttpResponse
from django.utils.module_loading import import_string
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request

from dressage.common.api.query import Choice, Query

QUERY = Query.of(Choice(name="format", choices=("json", "yaml"), description="By default what the client accepts."))


class _ByQuery(DefaultContentNegotiation):
    """The renderer that the query names, else one that the client accepts."""

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        """Raises a 422 problem for an unknown parameter or format."""
        return super().select_renderer(request, renderers, QUERY.read(request.query_params)["format"])


class OpenAPIView(SpectacularAPIView):
    """The document, as YAML or JSON."""

    content_negotiation_class = _ByQuery

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        """Return it in the format that the client accepts."""
        renderer = request.accepted_renderer
        charset = f"; charset={renderer.charset}" if renderer.charset else ""
        return HttpResponse(
            _document(f"{type(renderer).__module__}.{type(renderer).__name__}"),
            content_type=f"{request.accepted_media_type}{charset}",
            headers={"Content-Disposition": f'inline; filename="{self._get_filename(request, None)}"'},
        )


@cache
def _document(renderer: str) -> str | bytes:
    """The document as written by ``renderer``, the dotted name of a class."""
    schema = OpenAPIView.generator_class().get_schema(request=None, public=True)
    document: str | bytes = import_string(renderer)().render(schema, renderer_context={})
    return document
