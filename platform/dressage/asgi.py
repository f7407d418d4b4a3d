"""ASGI entry point: HTTP to Django, WebSockets to Channels."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dressage.settings")

from channels.routing import ProtocolTypeRouter, URLRouter
from channels.sessions import CookieMiddleware
from django import setup
from django.conf import settings
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

setup(set_prefix=False)

from dressage.gateway.bodies import BodyGate  # noqa: E402  (the apps must be loaded first)
from dressage.gateway.handler import ThreadedHandler  # noqa: E402
from dressage.gateway.health import Health  # noqa: E402
from dressage.gateway.origins import OriginCheck  # noqa: E402
from dressage.monitoring.routing import websocket_urlpatterns  # noqa: E402
from dressage.rewards.grading import start_early  # noqa: E402

start_early()

routes = ProtocolTypeRouter(
    {
        "http": Health(BodyGate(ThreadedHandler())),
        # Streams authenticate their callers themselves, and check again while they are open.
        "websocket": OriginCheck(CookieMiddleware(URLRouter(websocket_urlpatterns))),
    }
)
# Here and not in the server, so that an address is never trusted without the setting, whatever starts the server.
application = ProxyHeadersMiddleware(routes, [str(network) for network in settings.TRUSTED_PROXIES])  # type: ignore[arg-type]
