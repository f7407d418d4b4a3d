"""REST views of uploads. Parts, offsets and headers follow tus 1.0."""

import re
from collections.abc import Mapping
from typing import IO, Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.parsers import BaseParser
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent
from dressage.common.api.paging import page_query
from dressage.common.api.parsers import JSONParser
from dressage.common.api.permissions import IsEditor
from dressage.common.api.problems import Problem
from dressage.common.scopes import Noun
from dressage.datasets.models import DatasetUpload
from dressage.datasets.uploads import selectors, services
from dressage.datasets.uploads.serializers import DatasetUploadSerializer, StartUploadSerializer
from dressage.teams.api import ApiView, TeamRequest

_TUS = "1.0.0"
_OFFSET = re.compile(r"0|[1-9][0-9]{0,17}", re.ASCII)
_PART_HEADERS = [
    OpenApiParameter(
        "Upload-Offset",
        OpenApiTypes.STR,
        OpenApiParameter.HEADER,
        required=True,
        description="Bytes of the file in front of this part.",
    ),
    OpenApiParameter(
        "Upload-Checksum",
        OpenApiTypes.STR,
        OpenApiParameter.HEADER,
        description="`sha256` or `sha1`, a space, and the part's digest in Base64.",
    ),
]


class PartParser(BaseParser):
    """Reads a part as raw bytes. The gateway limits its size."""

    media_type = "application/offset+octet-stream"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        return stream.read()


class DatasetUploadsView(ApiView):
    """All uploads."""

    noun = Noun.DATASETS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409, 413, 429, 507)}
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listDatasetUploads", tags=["datasets"], responses=DatasetUploadSerializer(many=True))
    def get(self, request: TeamRequest) -> Response:
        """List the team's uploads that have not become a dataset yet, newest first."""
        return self.page(selectors.uploads(request.team), DatasetUploadSerializer)

    @extend_schema(
        operation_id="startDatasetUpload",
        tags=["datasets"],
        request=StartUploadSerializer,
        responses={201: DatasetUploadSerializer},
    )
    @idempotent
    def post(self, request: TeamRequest) -> Response:
        """Start to upload a file in parts of up to 16 MiB. Its `id` is the `upload` of a new dataset or version."""
        upload = services.start_upload(request.team, request.actor, **self.body(StartUploadSerializer))
        document = DatasetUploadSerializer(upload).data
        headers = {"Location": f"/api/v1/dataset-uploads/{upload.id}", **_headers(upload)}
        return Response(document, status=status.HTTP_201_CREATED, headers=headers)


class DatasetUploadView(ApiView):
    """One upload."""

    noun = Noun.DATASETS
    parser_classes = (PartParser, JSONParser)
    roles = {"PATCH": IsEditor, "DELETE": IsEditor}
    problem_statuses = {"PATCH": (409, 413, 460, 507), "DELETE": (409,)}

    @extend_schema(operation_id="getDatasetUpload", tags=["datasets"], responses=DatasetUploadSerializer)
    def get(self, request: TeamRequest, upload_id: str) -> Response:
        """Return an upload. `offset` counts the bytes received. GET and HEAD also send it as `Upload-Offset`."""
        upload = selectors.upload(request.team, upload_id)
        return Response(DatasetUploadSerializer(upload).data, headers=_headers(upload))

    @extend_schema(
        operation_id="sendDatasetUploadPart",
        tags=["datasets"],
        parameters=_PART_HEADERS,
        request={PartParser.media_type: OpenApiTypes.BINARY},
        responses={204: None},
    )
    def patch(self, request: TeamRequest, upload_id: str) -> Response:
        """Send the next part.

        A part that does not follow the bytes received so far is answered with 409. The header `Upload-Offset` says
        where the next part must begin.
        """
        upload = selectors.upload(request.team, upload_id)
        offset = request.headers.get("Upload-Offset", "")
        if not _OFFSET.fullmatch(offset):
            detail = "The header Upload-Offset must tell how many bytes of the file come before this part."
            raise Problem(422, "Invalid request", detail, code="invalid_offset")
        part: Any = request.data
        if not isinstance(part, bytes):
            if part:
                detail = f"A part is bytes of the type {PartParser.media_type}."
                raise Problem(415, "Unsupported media type", detail)
            part = b""
        upload = services.append(upload, int(offset), part, request.headers.get("Upload-Checksum"))
        return Response(status=status.HTTP_204_NO_CONTENT, headers=_headers(upload))

    @extend_schema(operation_id="cancelDatasetUpload", tags=["datasets"], responses={204: None})
    def delete(self, request: TeamRequest, upload_id: str) -> Response:
        """Delete an upload and its bytes."""
        services.cancel_upload(selectors.upload(request.team, upload_id), request.actor)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _headers(upload: DatasetUpload) -> dict[str, str]:
    return {
        "Tus-Resumable": _TUS,
        "Upload-Offset": str(upload.offset),
        "Upload-Length": str(upload.size),
        "Upload-Expires": f"{upload.expires_at:%a, %d %b %Y %H:%M:%S GMT}",
        "Cache-Control": "no-store",
    }
