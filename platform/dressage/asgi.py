"""ASGI entry point: HTTP to Django, WebSockets to Channels."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dressage.settings")

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application

http = get_asgi_application()

from dressage.monitoring.routing import websocket_urlpatterns  # noqa: E402  (the apps must be loaded first)
from dressage.rewards.grading import start_early  # noqa: E402

start_early()

application = ProtocolTypeRouter(
    {
        "http": http,
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)
