"""JSON bodies without the parts of JSON that break later."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework import parsers
from rest_framework.exceptions import ParseError

from dressage.common.api.strict_json import MAX_DEPTH, check


class JSONParser(parsers.JSONParser):
    """REST framework's strict parser, with a depth limit and only text that PostgreSQL can store."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        try:
            data = super().parse(stream, media_type, parser_context)
        except RecursionError as error:
            raise ParseError(f"JSON is nested deeper than {MAX_DEPTH} levels.") from error
        try:
            check(data)
        except ValueError as error:
            raise ParseError(str(error)) from error
        return data
