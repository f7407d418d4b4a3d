"""WebSocket routes."""

from django.urls import path

from dressage.telemetry.stream.run_consumer import RunConsumer
from dressage.telemetry.stream.team_consumer import TeamConsumer

websocket_urlpatterns = [
    path("ws/v1/runs/<str:run_id>", RunConsumer.as_asgi()),
    path("ws/v1/team", TeamConsumer.as_asgi()),
]
