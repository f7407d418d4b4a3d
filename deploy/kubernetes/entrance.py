"""The entry point for browsers: an ingress with TLS that supports streams."""

from deploy.commands import WEB_PORT
from deploy.kubernetes.objects import Installation, Manifest

_NGINX = {
    # Streams are idle between events; the platform has its own limits for bodies.
    "nginx.ingress.kubernetes.io/proxy-read-timeout": "3600",
    "nginx.ingress.kubernetes.io/proxy-send-timeout": "3600",
    "nginx.ingress.kubernetes.io/proxy-body-size": "0",
    "nginx.ingress.kubernetes.io/proxy-request-buffering": "off",
    # Links of invitations contain a secret in their path.
    "nginx.ingress.kubernetes.io/enable-access-log": "false",
    "nginx.ingress.kubernetes.io/ssl-redirect": "true",
}


def ingress(installation: Installation) -> list[Manifest]:
    """The ingress; empty if none is configured."""
    values = installation.values
    wanted = values.ingress
    if wanted is None:
        return []
    host = values.url.removeprefix("https://").split(":")[0]
    backend = {"service": {"name": installation.name("web"), "port": {"number": WEB_PORT}}}
    spec = {
        "ingressClassName": wanted.class_name,
        "tls": [{"hosts": [host], "secretName": wanted.tls_secret}],
        "rules": [{"host": host, "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}],
    }
    annotations = {**(_NGINX if wanted.class_name == "nginx" else {}), **wanted.annotations}
    name = installation.name("web")
    return [installation.object("Ingress", "networking.k8s.io/v1", name, "web", {"spec": spec}, annotations or None)]
