"""Network policies: only the ingress named here is allowed; Ray's ports are open only to a cluster's own pods."""

from deploy.commands import WEB_PORT
from deploy.kubernetes.clusters import cluster_label, part
from deploy.kubernetes.objects import DATABASE_CLIENT, REDIS_CLIENT, Installation, Manifest
from deploy.kubernetes.values import BundledServer, ExternalServer

_INSTANCE = "app.kubernetes.io/instance"
_METADATA = "169.254.169.254/32"
"""Address at which clouds provide a machine's credentials: none of our pods needs it."""


def policies(installation: Installation) -> list[Manifest]:
    """All network policies of the installation."""
    values = installation.values
    made = [_policy(installation, "default", {_INSTANCE: values.name}, []), _way_out(installation), _web(installation)]
    if isinstance(values.postgres, BundledServer):
        made.append(_server(installation, "postgres", 5432, DATABASE_CLIENT))
    if isinstance(values.redis, BundledServer):
        made.append(_server(installation, "redis", 6379, REDIS_CLIENT))
    for wanted in values.clusters:
        own = cluster_label(installation, wanted)
        made.append(_policy(installation, part(wanted), own, [{"from": [{"podSelector": {"matchLabels": own}}]}]))
    return made


def _policy(installation: Installation, name: str, pods: dict[str, str], ingress: list[Manifest]) -> Manifest:
    spec = {"podSelector": {"matchLabels": pods}, "policyTypes": ["Ingress"], "ingress": ingress}
    return _object(installation, name, spec)


def _object(installation: Installation, name: str, spec: Manifest) -> Manifest:
    made = installation.name(f"{name}-network")
    return installation.object("NetworkPolicy", "networking.k8s.io/v1", made, "network", {"spec": spec})


def _web(installation: Installation) -> Manifest:
    """Browsers connect through the ingress controller, runs through the link."""
    exists = {"matchExpressions": [{"key": "dressage/ray-cluster", "operator": "Exists"}]}
    sources: list[Manifest] = [{"podSelector": {"matchLabels": {_INSTANCE: installation.values.name}, **exists}}]
    if ingress := installation.values.ingress:
        sources.append({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": ingress.from_namespace}}})
    rule = {"from": sources, "ports": [{"protocol": "TCP", "port": WEB_PORT}]}
    return _policy(installation, "web", installation.selector("web"), [rule])


def _server(installation: Installation, server: str, port: int, client: dict[str, str]) -> Manifest:
    source = {"podSelector": {"matchLabels": {_INSTANCE: installation.values.name, **client}}}
    rule = {"from": [source], "ports": [{"protocol": "TCP", "port": port}]}
    return _policy(installation, server, installation.selector(server), [rule])


def _way_out(installation: Installation) -> Manifest:
    values = installation.values
    own = {"to": [{"podSelector": {"matchLabels": {_INSTANCE: values.name}}}]}
    dns = {
        "to": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}}}],
        "ports": [{"protocol": protocol, "port": 53} for protocol in ("UDP", "TCP")],
    }
    rules = [own, dns]
    if values.egress == "open":
        anywhere = {"ipBlock": {"cidr": "0.0.0.0/0", "except": [_METADATA]}}
        rules.append({"to": [anywhere, {"ipBlock": {"cidr": "::/0"}}]})
    else:
        servers = [server for server in (values.postgres, values.redis) if isinstance(server, ExternalServer)]
        networks = [*values.network.allowed, *(network for server in servers for network in server.networks)]
        networks += [values.network.api_server] if values.network.api_server else []
        if networks:
            rules.append({"to": [{"ipBlock": {"cidr": network}} for network in dict.fromkeys(networks)]})
    spec = {"podSelector": {"matchLabels": {_INSTANCE: values.name}}, "policyTypes": ["Egress"], "egress": rules}
    return _object(installation, "egress", spec)
