"""WebSocket routes."""

from typing import Any

from django.urls import path

from dressage.monitoring.stream.run_consumer import RunConsumer
from dressage.monitoring.stream.team_consumer import TeamConsumer

# Channels routes ASGI applications by Django's `path`, whose annotations know views only.
websocket_urlpatterns: list[Any] = [
    path("ws/v1/runs/<str:run_id>", RunConsumer.as_asgi()),  # type: ignore[arg-type]
    path("ws/v1/team", TeamConsumer.as_asgi()),  # type: ignore[arg-type]
]
