"""Connections of the hub's client: to the operator's endpoint, and from there only to the public internet.

The hub redirects downloads to wherever its files are stored. The server at the endpoint must not be able to make the
platform send requests to hosts that only the platform can reach, so the resolved address is checked.
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
    """Make ``huggingface_hub`` connect in this way, in this process, from its next request on."""
    # A broken connection loses the current chunk, and progress is reported per chunk: the default of 10 MB is too much.
    constants.DOWNLOAD_CHUNK_SIZE = PIECE_BYTES
    set_client_factory(_client)


def _client() -> httpx2.Client:
    client = httpx2.Client(event_hooks={"request": [hf_request_event_hook]}, follow_redirects=True, timeout=30.0)
    return guarded(client, _open_addresses)


def _open_addresses(host: str, port: int) -> list[str]:
    own = addresses_of(urlsplit(settings.HUB_ENDPOINT).hostname or "", port)
    found = addresses_of(host, port)
    return [address for address in found if address in own or may_ask(address, settings.IMPORT_NETWORKS)]
