"""The client: one object for one platform, with a member for each kind of thing on it."""

import os
from typing import Self

from dressage_sdk.connection import Connection
from dressage_sdk.errors import DressageError
from dressage_sdk.runs import RunsApi

URL = "DRESSAGE_URL"
TOKEN = "DRESSAGE_TOKEN"  # nosec B105


class Client:
    """A platform, in the name of an API token. Close it, or use it in a ``with`` block. Threads may share it."""

    runs: RunsApi
    """The team's runs."""

    def __init__(
        self, url: str | None = None, token: str | None = None, *, timeout: float = 30.0, retries: int = 3
    ) -> None:
        """
        Args:
            url: address of the platform, such as ``https://dressage.example.com``; by default ``DRESSAGE_URL``.
            token: secret of an API token; by default ``DRESSAGE_TOKEN``.
            timeout: seconds to wait for a connection, and for each part of an answer.
            retries: attempts after the first one, if the platform is busy or cannot be reached.

        Raises:
            DressageError: there is no address or no token, or they cannot be used.
        """
        self._connection = Connection(
            _given(url, URL, "address", "url"), _given(token, TOKEN, "API token", "token"),
            timeout=timeout, retries=retries,
        )  # fmt: skip
        self.runs = RunsApi(self._connection)

    @property
    def url(self) -> str:
        """Address of the platform."""
        return self._connection.url

    def close(self) -> None:
        """Close the connections to the platform."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self.url!r})"


def _given(value: str | None, variable: str, what: str, argument: str) -> str:
    found = os.environ.get(variable, "") if value is None else value
    if not found.strip():
        raise DressageError(f"No {what}", f"Set {variable}, or pass {argument}=… to Client.")
    return found
