"""The values of an installation: everything that differs between two of them, and rules between the fields."""

from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from deploy.kubernetes.checks import Cidr, Cron, Name, Quantity, Registry, ValuesPart
from deploy.kubernetes.cluster_values import Cluster
from deploy.variables import SECRETS, known_variables

MANAGED = frozenset(
    {
        "DRESSAGE_CLUSTERS",
        "DRESSAGE_HOME",
        "DRESSAGE_MODE",
        "DRESSAGE_WEB_PROCESSES",
        "DRESSAGE_HOST",
        "DRESSAGE_PORT",
        "DRESSAGE_URL",
        "DRESSAGE_TRUSTED_PROXIES",
        "LINK_URL",
        "RAY_ADDRESS",
    }
)
"""Variables that the manifests set themselves."""


class Resources(ValuesPart):
    """Processor time and memory of one container. Memory is both the request and the limit."""

    cpu: Quantity = "500m"
    """Requested cores; more are used if they are free."""
    memory: Quantity = "1Gi"
    """Memory, both the request and the limit."""


class Storage(ValuesPart):
    """A volume: a new one of the given size, or an existing one."""

    size: Quantity = "100Gi"
    """Size of the claim that is created."""
    storage_class: str | None = None
    """Storage class of the claim. Default: the cluster's own."""
    existing_claim: Name | None = None
    """Existing claim to use instead of creating one."""


class Web(ValuesPart):
    """The web processes, which share one address."""

    replicas: Annotated[int, Field(ge=1, le=64)] = 2
    """Number of processes; with two or more, the console stays available while one is replaced."""
    resources: Resources = Resources(cpu="1", memory="2Gi")


class Workers(ValuesPart):
    """The platform's Celery workers: they manage runs and import policies."""

    replicas: Annotated[int, Field(ge=1, le=64)] = 1
    """Number of processes."""
    threads: Annotated[int, Field(ge=2, le=64)] = 6
    """Tasks that each process runs at the same time; an import of a policy or a job of the lab takes one for hours."""
    resources: Resources = Resources(cpu="500m", memory="2Gi")


class BundledServer(ValuesPart):
    """PostgreSQL or Redis as one pod of this installation, with its own volume."""

    kind: Literal["bundled"] = "bundled"
    size: Quantity = "20Gi"
    """Size of its volume."""
    storage_class: str | None = None
    """Storage class of its volume. Default: the cluster's own."""
    resources: Resources = Resources(cpu="1", memory="2Gi")


class ExternalServer(ValuesPart):
    """A server that is operated elsewhere; the installation's Secret holds its URL."""

    kind: Literal["external"]
    networks: tuple[Cidr, ...] = ()
    """Networks of the server; required if egress is closed."""


Server = Annotated[BundledServer | ExternalServer, Field(discriminator="kind")]


class Ingress(ValuesPart):
    """The entry point for browsers, over TLS, including WebSockets."""

    class_name: str = "nginx"
    """Class of the controller. For ``nginx`` the timeouts of streams are also set."""
    tls_secret: Name
    """Secret of type kubernetes.io/tls with the certificate."""
    from_namespace: Name = "ingress-nginx"
    """Namespace of the controller's pods: only these can reach the web processes."""
    trusted_proxies: Annotated[tuple[Cidr, ...], Field(min_length=1)]
    """Networks of the controller's pods, whose forwarded headers are trusted."""
    annotations: dict[str, str] = {}
    """Additional annotations, such as those of a certificate issuer."""


class Network(ValuesPart):
    """Egress of the installation's pods. Ingress is always closed except for what is used."""

    egress: Literal["open", "closed"] = "open"
    """Whether pods can reach the internet; ``closed`` allows only the installation itself, DNS, and entries here."""
    allowed: tuple[Cidr, ...] = ()
    """Networks that pods can reach even though egress is closed: judges, object stores, mirrors."""
    api_server: Cidr | None = None
    """Network of the Kubernetes API server, from which Ray's autoscaler requests pods."""


class Backups(ValuesPart):
    """A job that dumps the database and archives the data folder."""

    schedule: Cron = "15 2 * * *"
    """Times at which it runs, in cron syntax."""
    keep: Annotated[int, Field(ge=1, le=365)] = 7
    """Number of backups that are retained."""
    storage: Storage = Storage()


class Secrets(ValuesPart):
    """The Secret that an operator creates; manifests only refer to its keys."""

    name: Name = "dressage"
    """Name of the Secret."""
    extra: dict[str, str] = {}
    """Additional secret settings by variable, with their keys in the Secret, such as DRESSAGE_EMAIL_URL: email-url."""
    pull: Name | None = None
    """Secret for pulling images."""

    @field_validator("extra")
    @classmethod
    def _are_secret_settings(cls, extra: dict[str, str]) -> dict[str, str]:
        own = {"DATABASE_URL", "REDIS_URL", "DRESSAGE_SECRET_KEY", "DRESSAGE_CLUSTER_SECRET"}
        allowed = sorted(set(SECRETS) - own - {"DRESSAGE_ENCRYPTION_KEYS"})
        for variable in extra:
            if variable not in allowed:
                raise ValueError(f"{variable} is not a further secret setting; those are {', '.join(allowed)}")
        return extra


class Values(ValuesPart):
    """Values of one installation."""

    name: Name = "dressage"
    """Name of the installation, and prefix of its objects' names."""
    namespace: Name = "dressage"
    """Namespace of the installation."""
    url: str
    """Address at which browsers reach the console, with https."""
    registry: Registry | None = None
    """Registry, and path in it, that all images are pulled from. Default: the registries that the lock names."""
    air_gap: bool = False
    """Whether nothing outside is contacted: egress is closed, the hub is not used, images come from ``registry``."""
    settings: dict[str, str | int | float | bool] = {}
    """Additional settings of the platform, by the names in docs/configuration.md."""
    secrets: Secrets = Secrets()
    storage: Storage = Storage(size="500Gi")
    """The data folder, which all pods share: many nodes must be able to read and write it (ReadWriteMany)."""
    web: Web = Web()
    workers: Workers = Workers()
    beat: Resources = Resources(cpu="100m", memory="512Mi")
    postgres: Server = BundledServer()
    redis: Server = BundledServer(size="5Gi", resources=Resources(cpu="250m", memory="1Gi"))
    ingress: Ingress | None = None
    network: Network = Network()
    backups: Backups | None = Backups()
    clusters: tuple[Cluster, ...] = ()
    """Ray clusters that KubeRay runs for this installation; each has its own queue of runs."""
    further_clusters: tuple[Name, ...] = ()
    """Names of clusters elsewhere, whose Celery workers run next to them."""

    @field_validator("url")
    @classmethod
    def _is_an_https_address(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme != "https" or not parts.hostname or parts.path.strip("/"):
            raise ValueError(f"{url!r} is not the address of a console; write one such as https://dressage.example.com")
        return url.rstrip("/")

    @field_validator("settings")
    @classmethod
    def _are_settings(cls, settings: dict[str, str | int | float | bool]) -> dict[str, str | int | float | bool]:
        for variable in settings:
            if variable in SECRETS:
                raise ValueError(f"{variable} is secret; put it into the Secret and name its key in secrets.extra")
            if variable in MANAGED:
                raise ValueError(f"{variable} follows from the other values; remove it")
            if variable not in known_variables():
                raise ValueError(f"{variable} is not a setting of the platform; docs/configuration.md lists them")
        return settings

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [*(cluster.name for cluster in self.clusters), *self.further_clusters]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"clusters: {twice[0]!r} is the name of two clusters; give each its own name")
        return self

    @model_validator(mode="after")
    def _closed_way_out_leaves_what_is_needed(self) -> Self:
        if self.egress == "open":
            return self
        for field, server in (("postgres", self.postgres), ("redis", self.redis)):
            if isinstance(server, ExternalServer) and not server.networks:
                raise ValueError(f"{field}.networks: egress is closed; name the server's network")
        if any(cluster.autoscaling for cluster in self.clusters) and not self.network.api_server:
            raise ValueError("network.api_server: egress is closed; name the API server's network for autoscaling")
        return self

    @model_validator(mode="after")
    def _air_gap_is_whole(self) -> Self:
        if self.air_gap and not self.registry:
            raise ValueError("registry: with air_gap all images come from your own registry; name it")
        if self.air_gap and self.settings.get("HF_HUB_OFFLINE") is False:
            raise ValueError("settings.HF_HUB_OFFLINE: air_gap means that the hub is never contacted; remove it")
        return self

    @property
    def egress(self) -> Literal["open", "closed"]:
        """The egress setting in effect."""
        return "closed" if self.air_gap else self.network.egress
