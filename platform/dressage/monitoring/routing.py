"""WebSocket routes."""

from typing import Any

from django.urls import path, re_path

from dressage.monitoring.stream.nowhere import NowhereConsumer
from dressage.monitoring.stream.run_consumer import RunConsumer
from dressage.monitoring.stream.team_consumer import TeamConsumer

# Channels routes ASGI applications with Django's `path`, whose annotations only know views.
websocket_urlpatterns: list[Any] = [
    re_path(r"^ws/v1/runs/(?P<run_id>[A-Za-z0-9_-]{1,64})\Z", RunConsumer.as_asgi()),  # type: ignore[arg-type]
    path("ws/v1/team", TeamConsumer.as_asgi()),  # type: ignore[arg-type]
    re_path(r"(?s)^.*", NowhereConsumer.as_asgi()),  # type: ignore[arg-type]
]
