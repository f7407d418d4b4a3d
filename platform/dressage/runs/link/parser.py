"""The link's JSON parser: lenient with text, as a policy may sample anything. PostgreSQL stores no NUL character."""

import json
from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from dressage.common.api.problems import Problem
from dressage.common.storable import clean
from trainer_core.link.limits import MAX_REQUEST_BYTES


class LinkParser(BaseParser):
    """JSON in which NUL characters and unpaired surrogates become U+FFFD."""

    media_type = "application/json"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        body = stream.read(MAX_REQUEST_BYTES + 1)
        if len(body) > MAX_REQUEST_BYTES:
            raise Problem(413, "Request too large", f"A sync may have at most {MAX_REQUEST_BYTES} bytes.")
        try:
            data = json.loads(body, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise ParseError(f"This is not JSON: {error}") from error
        suspicious = b"\\u0000" in body or b"\\ud" in body.lower()
        return clean(data) if suspicious else data


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
