"""Connections of the hub's client: to the operator's endpoint, and from there to the public internet alone.

The hub redirects downloads to wherever its files lie. Whoever answers at the endpoint must not thereby have the
platform ask what only the platform can reach, so the address that is connected to decides.
"""

from urllib.parse import urlsplit

import httpx2
from django.conf import settings
from huggingface_hub import constants, set_client_factory
from huggingface_hub.utils._http import hf_request_event_hook

from dressage.imports.connections import addresses_of, guarded
from trainer_core.networks import may_ask

PIECE_BYTES = 1 << 20


def use_guarded_connections() -> None:
    """Have ``huggingface_hub`` connect in this way, in this process, from its next request on."""
    # What has come of a piece is lost with the connection, and progress is told after each: ten megabytes are much.
    constants.DOWNLOAD_CHUNK_SIZE = PIECE_BYTES
    set_client_factory(_client)


def _client() -> httpx2.Client:
    client = httpx2.Client(event_hooks={"request": [hf_request_event_hook]}, follow_redirects=True, timeout=30.0)
    return guarded(client, _open_addresses)


def _open_addresses(host: str, port: int) -> list[str]:
    own = addresses_of(urlsplit(settings.HUB_ENDPOINT).hostname or "", port)
    found = addresses_of(host, port)
    return [address for address in found if address in own or may_ask(address, settings.IMPORT_NETWORKS)]
