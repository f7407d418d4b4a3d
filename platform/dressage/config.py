"""Configuration from the environment, in one class. Secrets may also come from files under ``DRESSAGE_HOME``.

Each variable is documented in ``docs/configuration.md``. A field is only read from its alias: the name of a field, such
as ``home``, would also match variables that every shell sets for other purposes.
"""

from functools import cached_property
from ipaddress import ip_network
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from dressage.cluster_list import NamedCluster, read_clusters
from dressage.embedded.postgres import EmbeddedPostgres
from dressage.embedded.private_files import secret_in
from dressage.embedded.redis import EmbeddedRedis
from trainer_core.log_lines import FORMAT_VARIABLE
from trainer_core.networks import Network

ROOT = Path(__file__).resolve().parents[2]
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_PORTS = {"http": 80, "https": 443}


def origin_of(url: str) -> str:
    """The address's scheme, host and port as browsers write them. Raises ValueError if it is not a web address."""
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError(f"{url!r} is not an address such as https://dressage.example.com")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = "" if parts.port in (None, _PORTS[parts.scheme]) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}"


class Config(BaseSettings):
    """Everything that differs between installations."""

    model_config = SettingsConfigDict(env_file=None, extra="ignore", case_sensitive=True)

    home: Path = Field(default=ROOT / ".dressage", alias="DRESSAGE_HOME")
    """Folder that holds all data."""
    mode: Literal["local", "production"] = Field(default="local", alias="DRESSAGE_MODE")
    """Purpose of the installation. In production it refuses to start with settings that would expose its users."""
    log_format: Literal["plain", "json"] | None = Field(default=None, alias=FORMAT_VARIABLE)
    """Format of the log lines. Default: JSON in production, else plain."""
    database_url: str | None = Field(default=None, alias="DATABASE_URL")
    """PostgreSQL to use instead of the embedded one."""
    database_pool: int = Field(default=20, ge=1, le=1000, alias="DATABASE_POOL_SIZE")
    """Maximum number of database connections in one process."""
    database_wait_s: float = Field(default=10.0, gt=0, allow_inf_nan=False, alias="DATABASE_WAIT_S")
    """Seconds that a request waits for a connection, and that a new connection waits for the server."""
    redis_url: str | None = Field(default=None, alias="REDIS_URL")
    """Redis to use instead of the embedded one."""
    ray_address: str | None = Field(default=None, alias="RAY_ADDRESS")
    """Ray cluster to use instead of a local head."""
    clusters: str = Field(default="", alias="DRESSAGE_CLUSTERS")
    """Ray clusters by name, such as ``here=local,big=10.0.0.1:6379,far``, separated by commas. One without an address
    has its worker elsewhere. Default: one, at RAY_ADDRESS."""
    cluster_token_files: str = Field(default="", alias="DRESSAGE_CLUSTER_TOKEN_FILES")
    """Files with the tokens that the clusters' Ray requires, such as ``big=/etc/dressage/big-token``."""
    secret_key: str | None = Field(default=None, alias="DRESSAGE_SECRET_KEY")
    """Signs sessions and link tokens. Default: created once and stored in the data folder."""
    cluster_secret: str | None = Field(default=None, min_length=32, alias="DRESSAGE_CLUSTER_SECRET")
    """Proves to the platform that a worker belongs to its cluster. Default: created once, stored in the data folder."""
    encryption_keys: str | None = Field(default=None, alias="DRESSAGE_ENCRYPTION_KEYS")
    """Fernet keys that encrypt the secrets of teams, newest first, separated by commas.
    Default: created once and stored in the data folder."""
    host: str = Field(default="127.0.0.1", alias="DRESSAGE_HOST")
    """Address the web server listens on."""
    port: int = Field(default=8600, ge=1, le=65535, alias="DRESSAGE_PORT")
    """Port the web server listens on."""
    web_processes: int = Field(default=1, ge=1, le=64, alias="DRESSAGE_WEB_PROCESSES")
    """Number of processes that serve that port."""
    hosts: str = Field(default="", alias="DRESSAGE_HOSTS")
    """Additional names, separated by commas, under which the web server responds.
    Default: those of DRESSAGE_URL and LINK_URL, and of this machine."""
    hsts_s: int = Field(default=31_536_000, ge=0, alias="DRESSAGE_HSTS_S")
    """Seconds for which browsers, after a visit, only use TLS; only effective with an https:// address."""
    hsts_subdomains: bool = Field(default=True, alias="DRESSAGE_HSTS_SUBDOMAINS")
    """Whether that applies to all names below that of DRESSAGE_URL, and browsers may preload it."""
    url: str | None = Field(default=None, alias="DRESSAGE_URL")
    """Address at which browsers reach the console, such as https://dressage.example.com."""
    origins: str = Field(default="", alias="DRESSAGE_ORIGINS")
    """Additional addresses, separated by commas, whose pages may use the API and the streams from a browser."""
    link_url: str | None = Field(default=None, alias="LINK_URL")
    """Address at which workers reach the platform."""
    max_active_runs: int = Field(default=1, ge=1, alias="MAX_ACTIVE_RUNS")
    """Number of runs that train at the same time; the others wait in the queue."""
    max_active_runs_per_team: int | None = Field(default=None, ge=1, alias="MAX_ACTIVE_RUNS_PER_TEAM")
    """Number of runs of one team that train at the same time. Default: as many as there are slots."""
    gpu_hours_per_team: float | None = Field(default=None, ge=0, allow_inf_nan=False, alias="GPU_HOURS_PER_TEAM")
    """GPU hours per month that one team may use. Default: no limit."""
    gpu_hour_price: float | None = Field(default=None, ge=0, allow_inf_nan=False, alias="GPU_HOUR_PRICE")
    """Price of one GPU hour, used to show the cost of runs. Default: only hours are shown."""
    gpu_hour_currency: str = Field(default="USD", pattern=r"^[A-Z]{3}$", alias="GPU_HOUR_CURRENCY")
    """Currency of that price, as ISO 4217 writes it."""
    dataset_gib_per_team: float = Field(default=200.0, ge=0, le=2**32, alias="DATASET_GIB_PER_TEAM")
    """GiB that one team may store in datasets."""
    dataset_rows_per_team: int = Field(default=500_000_000, ge=0, le=2**62, alias="DATASET_ROWS_PER_TEAM")
    """Rows that one team may store in datasets."""
    pause_keeps_place_s: float = Field(default=900.0, ge=0, allow_inf_nan=False, alias="PAUSE_KEEPS_PLACE_S")
    """Seconds after which a paused run releases its slot."""
    policy_roots: str = Field(default="", alias="POLICY_ROOTS")
    """Additional folders, separated by colons, under which every team may register base policies."""
    hub_endpoint: str = Field(default="https://huggingface.co", alias="HF_ENDPOINT")
    """Address of the Hugging Face hub, or of a mirror, that policies are imported from."""
    hub_offline: bool = Field(default=False, alias="HF_HUB_OFFLINE")
    """Whether the hub is never contacted: for an installation without a network."""
    bucket_endpoint: str = Field(default="", alias="AWS_ENDPOINT_URL")
    """Address of the S3-compatible object store that policies are imported from. Default: Amazon's."""
    bucket_region: str = Field(default="us-east-1", alias="AWS_REGION")
    """Region of the object store's buckets."""
    import_networks: str = Field(default="", alias="IMPORT_NETWORKS")
    """Networks besides the public internet, separated by commas, to which the hub may redirect downloads.
    Default: only the addresses of HF_ENDPOINT itself."""
    import_gib: float = Field(default=200.0, gt=0, allow_inf_nan=False, alias="POLICY_IMPORT_GIB")
    """Maximum size of one imported policy in GiB."""
    team_imports_gib: float | None = Field(default=None, gt=0, allow_inf_nan=False, alias="TEAM_POLICIES_GIB")
    """Maximum size on disk, in GiB, of all policies that one team has imported. Default: limited only by the disk."""
    dataset_import_urls: str = Field(default="", alias="DATASET_IMPORT_URLS")
    """Prefixes of addresses that datasets may be imported from, separated by commas. Default: none."""
    dataset_import_folders: str = Field(default="", alias="DATASET_IMPORT_FOLDERS")
    """Folders of this machine, separated by colons, that every team may import datasets from. Default: none."""
    judge_networks: str | None = Field(default=None, alias="JUDGE_NETWORKS")
    """Networks besides the public internet that may contain judges, separated by commas, such as 10.20.0.0/16.
    Default: none, but this machine itself as long as the console is only reachable on it."""
    trusted_proxies: str = Field(default="", alias="DRESSAGE_TRUSTED_PROXIES")
    """Addresses and networks of reverse proxies, separated by commas, whose X-Forwarded-For and X-Forwarded-Proto are
    trusted. Default: none."""
    session_idle_hours: float = Field(default=12, gt=0, alias="DRESSAGE_SESSION_IDLE_HOURS")
    """Hours without a request after which a browser's session ends."""
    session_days: float = Field(default=7, gt=0, alias="DRESSAGE_SESSION_DAYS")
    """Days after which a browser's session ends, no matter how much it is used."""
    email_url: str | None = Field(default=None, alias="DRESSAGE_EMAIL_URL")
    """Mail server for sending invitations, such as smtps://user:password@mail.example.com.
    Default: none, and the inviter is shown the link of an invitation."""
    email_from: str | None = Field(default=None, alias="DRESSAGE_EMAIL_FROM")
    """Sender address of mail. Default: dressage@ the host of DRESSAGE_URL."""
    token_days: int = Field(default=90, ge=1, le=3650, alias="TOKEN_DAYS")
    """Days after which an API token ends unless its creator specifies another time."""
    token_days_max: int = Field(default=365, ge=1, le=3650, alias="TOKEN_DAYS_MAX")
    """Maximum lifetime of an API token in days."""
    second_factor: Literal["optional", "admins", "all"] = Field(default="optional", alias="DRESSAGE_SECOND_FACTOR")
    """Accounts that must have a second factor: none, those of teams' admins, or all."""
    oidc_issuer: str = Field(default="", alias="DRESSAGE_OIDC_ISSUER")
    """Issuer of the OpenID Connect provider that people may sign in with, such as https://login.example.com."""
    oidc_client_id: str = Field(default="", alias="DRESSAGE_OIDC_CLIENT_ID")
    """Id of this installation at the provider."""
    oidc_client_secret: str = Field(default="", alias="DRESSAGE_OIDC_CLIENT_SECRET")
    """Secret of this installation at the provider."""
    oidc_domains: str = Field(default="", alias="DRESSAGE_OIDC_DOMAINS")
    """Domains of e-mail addresses, separated by commas, that may sign in with the provider. Default: all."""
    oidc_name: str = Field(default="single sign-on", alias="DRESSAGE_OIDC_NAME")
    """Name of the provider on the button of the sign-in page."""
    debug: bool = Field(default=False, alias="DRESSAGE_DEBUG")
    """Django's debug mode: for development of the platform itself."""

    @property
    def embedded_postgres(self) -> EmbeddedPostgres | None:
        return None if self.database_url else EmbeddedPostgres(self.home)

    @property
    def embedded_redis(self) -> EmbeddedRedis | None:
        return None if self.redis_url else EmbeddedRedis(self.home)

    @cached_property
    def resolved_database_url(self) -> str:
        """The configured database's URL, or the embedded one's."""
        if self.database_url:
            return self.database_url
        postgres = EmbeddedPostgres(self.home)
        postgres.prepare()
        return postgres.url

    @cached_property
    def resolved_redis_url(self) -> str:
        """The configured Redis's URL, or the embedded one's."""
        return self.redis_url or EmbeddedRedis(self.home).url

    @property
    def public_url(self) -> str:
        return (self.url or f"http://{self.host}:{self.port}").rstrip("/")

    @property
    def resolved_log_format(self) -> str:
        """``plain`` or ``json``."""
        return self.log_format or ("json" if self.mode == "production" else "plain")

    @property
    def resolved_hosts(self) -> list[str]:
        """Names under which the web server responds, without ports."""
        given = [name.strip() for name in self.hosts.split(",") if name.strip()]
        of_urls = [urlsplit(url).hostname or "" for url in (self.public_url, self.resolved_link_url)]
        return list(dict.fromkeys([*of_urls, *_LOOPBACK, *given]))

    @property
    def local_address(self) -> tuple[str, int]:
        """Host and port at which this machine itself reaches the web server."""
        return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host), self.port  # nosec B104

    @property
    def is_local(self) -> bool:
        """Whether browsers can only reach the console on this machine."""
        return urlsplit(self.public_url).hostname in ("127.0.0.1", "localhost", "::1")

    @property
    def resolved_origins(self) -> list[str]:
        """Origins of our pages, as browsers write them. Raises ValueError for a configured one that is not an address.

        These are the console's own, the names of this machine unless there is TLS in front, and the configured ones.
        """
        own = urlsplit(self.public_url)
        # Without TLS the web server is also reachable on this machine itself, at its own port.
        names = () if own.scheme == "https" and not self.is_local else _LOOPBACK
        port = (own.port or _PORTS.get(own.scheme)) if self.is_local else self.port
        local = [own._replace(netloc=f"{name}:{port}", path="").geturl() for name in names]
        given = [url.strip() for url in self.origins.split(",") if url.strip()]
        return list(dict.fromkeys(origin_of(url) for url in (own.geturl(), *local, *given)))

    @property
    def resolved_link_url(self) -> str:
        return (self.link_url or f"http://127.0.0.1:{self.port}").rstrip("/")

    @property
    def resolved_clusters(self) -> tuple[NamedCluster, ...]:
        """The clusters, or the single default cluster if none are named. Raises ValueError for invalid values."""
        return read_clusters(self.clusters, self.cluster_token_files, self.ray_address)

    @property
    def resolved_email_from(self) -> str:
        return self.email_from or f"dressage@{urlsplit(self.public_url).hostname or 'localhost'}"

    @property
    def resolved_judge_networks(self) -> tuple[Network, ...]:
        """The configured networks, or the default. Raises ValueError for text that is not a network."""
        default = "127.0.0.0/8,::1/128" if self.is_local else ""
        given = default if self.judge_networks is None else self.judge_networks
        return tuple(ip_network(text.strip()) for text in given.split(",") if text.strip())

    @property
    def resolved_hub_endpoint(self) -> str:
        """The hub's address without a trailing slash. Raises ValueError if it is not a web address."""
        origin_of(self.hub_endpoint)
        return self.hub_endpoint.rstrip("/")

    @property
    def resolved_bucket_endpoint(self) -> str:
        """The object store's address; empty for Amazon's. Raises ValueError if it is not a web address."""
        if self.bucket_endpoint:
            origin_of(self.bucket_endpoint)
        return self.bucket_endpoint.rstrip("/")

    @property
    def resolved_import_networks(self) -> tuple[Network, ...]:
        """The configured networks. Raises ValueError for text that is not a network."""
        return tuple(ip_network(text.strip()) for text in self.import_networks.split(",") if text.strip())

    @property
    def resolved_dataset_import_urls(self) -> tuple[str, ...]:
        """The prefixes of addresses. Raises ValueError for text that is not one."""
        found = tuple(text.strip() for text in self.dataset_import_urls.split(",") if text.strip())
        for text in found:
            parts = urlsplit(text)
            if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
                raise ValueError(f"DATASET_IMPORT_URLS: {text!r} is not the beginning of an http or https address")
            if "*" in parts.hostname.removeprefix("*.") and parts.hostname != "*":
                raise ValueError(
                    f"DATASET_IMPORT_URLS: {text!r} may have a star only alone or at the front, as in *.example.org"
                )
        return found

    @property
    def resolved_dataset_import_folders(self) -> tuple[Path, ...]:
        """The folders. Raises ValueError for one whose path is not absolute."""
        found = tuple(Path(text) for text in self.dataset_import_folders.split(":") if text)
        for folder in found:
            if not folder.is_absolute():
                raise ValueError(f"DATASET_IMPORT_FOLDERS: {str(folder)!r} is not an absolute path")
        return found

    @property
    def resolved_oidc_issuer(self) -> str:
        """The issuer; empty if there is none.

        Raises ValueError for one without a client, or one without https that is not on this machine.
        """
        parts = urlsplit(self.oidc_issuer)
        on_this_machine = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")
        if self.oidc_issuer and not (on_this_machine or (parts.scheme == "https" and parts.hostname)):
            raise ValueError("DRESSAGE_OIDC_ISSUER must be an https address")
        if self.oidc_issuer and not (self.oidc_client_id and self.oidc_client_secret):
            raise ValueError("DRESSAGE_OIDC_ISSUER needs DRESSAGE_OIDC_CLIENT_ID and DRESSAGE_OIDC_CLIENT_SECRET")
        return self.oidc_issuer

    @property
    def resolved_trusted_proxies(self) -> tuple[Network, ...]:
        """The proxies as networks. Raises ValueError for text that is not a network."""
        return tuple(ip_network(text.strip()) for text in self.trusted_proxies.split(",") if text.strip())

    @cached_property
    def resolved_secret_key(self) -> str:
        """The configured key, or one that is created on first use and readable only by the owner."""
        return self.secret_key or secret_in(self.home / "secret-key")

    @property
    def cluster_secret_path(self) -> Path:
        """File with the cluster's secret, if no variable sets it."""
        return self.home / "cluster-secret"

    @cached_property
    def resolved_cluster_secret(self) -> str:
        """The configured secret, or one that is created on first use and readable only by the owner."""
        return self.cluster_secret or secret_in(self.cluster_secret_path)


config = Config()
