"""ASGI entry point: HTTP to Django, WebSockets to Channels."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dressage.settings")

from channels.routing import ProtocolTypeRouter, URLRouter
from channels.sessions import CookieMiddleware
from django import setup

setup(set_prefix=False)

from dressage.gateway.handler import ThreadedHandler  # noqa: E402  (the apps must be loaded first)
from dressage.gateway.origins import OriginCheck  # noqa: E402
from dressage.monitoring.routing import websocket_urlpatterns  # noqa: E402
from dressage.rewards.grading import start_early  # noqa: E402

start_early()

application = ProtocolTypeRouter(
    {
        "http": ThreadedHandler(),
        # Streams find out by themselves who calls, and ask again while they are open.
        "websocket": OriginCheck(CookieMiddleware(URLRouter(websocket_urlpatterns))),
    }
)
