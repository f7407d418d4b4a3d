"""Django settings, derived from ``dressage.config``."""

from pathlib import Path

from django.conf.global_settings import PASSWORD_HASHERS as DEFAULT_HASHERS

from dressage.config import ROOT, config
from dressage.database import database_settings
from dressage.email_url import parse_email_url

BASE_DIR = ROOT
HOME = config.home.resolve()
DATASET_ROOT = HOME / "datasets"
POLICY_ROOT = HOME / "policies"
RUN_ROOT = HOME / "runs"
# Shared by all teams, and read-only. Output of runs is never here: it belongs to the team of the run.
POLICY_ROOTS: list[Path] = [POLICY_ROOT, *(Path(path) for path in config.policy_roots.split(":") if path)]
TEAM_POLICY_ROOT = HOME / "team-policies"
HUB_ENDPOINT, HUB_OFFLINE = config.resolved_hub_endpoint, config.hub_offline
BUCKET_ENDPOINT, BUCKET_REGION = config.resolved_bucket_endpoint, config.bucket_region
IMPORT_NETWORKS = config.resolved_import_networks
IMPORT_GIB, TEAM_IMPORTS_GIB = config.import_gib, config.team_imports_gib
DATASET_IMPORT_URLS: tuple[str, ...] = config.resolved_dataset_import_urls
DATASET_IMPORT_FOLDERS: tuple[Path, ...] = config.resolved_dataset_import_folders
CLUSTERS = tuple(cluster.name for cluster in config.resolved_clusters)
GPU_HOURS_PER_TEAM = config.gpu_hours_per_team
GPU_HOUR_PRICE, GPU_HOUR_CURRENCY = config.gpu_hour_price, config.gpu_hour_currency
DATASET_BYTES_PER_TEAM, DATASET_ROWS_PER_TEAM = int(config.dataset_gib_per_team * 2**30), config.dataset_rows_per_team
MAX_ACTIVE_RUNS = config.max_active_runs
MAX_ACTIVE_RUNS_PER_TEAM = config.max_active_runs_per_team
PAUSE_KEEPS_PLACE_S = config.pause_keeps_place_s
TOKEN_DAYS = config.token_days
TOKEN_DAYS_MAX = config.token_days_max
JUDGE_NETWORKS = config.resolved_judge_networks
LINK_URL = config.resolved_link_url
PUBLIC_URL = config.public_url
TRUSTED_PROXIES = config.resolved_trusted_proxies

DEBUG = config.debug
LOG_FORMAT = config.resolved_log_format
SECRET_KEY = config.resolved_secret_key
CLUSTER_SECRET = config.resolved_cluster_secret
ENCRYPTION_KEYS = tuple(key.strip() for key in (config.encryption_keys or "").split(",") if key.strip())
ENCRYPTION_KEY_FILE = HOME / "encryption-keys"
WEB_ORIGINS = config.resolved_origins
ALLOWED_HOSTS = config.resolved_hosts
CSRF_TRUSTED_ORIGINS = WEB_ORIGINS

INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.sessions",
    "django.contrib.postgres",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "channels",
    "dressage.supervisor",
    "dressage.common",
    "dressage.teams",
    "dressage.clusters",
    "dressage.datasets",
    "dressage.lab",
    "dressage.rewards",
    "dressage.policies",
    "dressage.runs",
    "dressage.bench",
    "dressage.rehearsals",
    "dressage.profiles",
    "dressage.serving",
    "dressage.telemetry",
    "dressage.monitoring",
    "dressage.chart_views",
    "dressage.reports",
    "dressage.compat",
]
MIDDLEWARE = [
    "dressage.common.api.middleware.RequestContextMiddleware",
    "dressage.common.api.compression.CompressionMiddleware",
    "dressage.common.api.middleware.HttpsApiMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "dressage.common.api.middleware.SessionsMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "dressage.urls"
ASGI_APPLICATION = "dressage.asgi.application"
APPEND_SLASH = False
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}]

DATABASES = {
    "default": database_settings(config.resolved_database_url, pool=config.database_pool, wait_s=config.database_wait_s)
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
REDIS_URL = config.resolved_redis_url
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"pool_class": "dressage.common.redis_pool.SharedPool"},
    }
}

EMAIL_IS_SET_UP = config.email_url is not None
_MAIL = parse_email_url(config.email_url or "smtp://localhost")
EMAIL_HOST, EMAIL_PORT = _MAIL.host, _MAIL.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _MAIL.user, _MAIL.password
EMAIL_USE_SSL, EMAIL_USE_TLS = _MAIL.tls, _MAIL.starttls
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = SERVER_EMAIL = config.resolved_email_from

AUTH_USER_MODEL = "teams.User"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher", *DEFAULT_HASHERS]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "dressage.teams.passwords.patterns.PlainPatternValidator"},
]
_HTTPS = PUBLIC_URL.startswith("https://")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _HTTPS
# Browsers accept cookies with such names only from this very host over TLS: no neighbouring host can plant one.
COOKIE_PREFIX = "__Host-" if _HTTPS else ""
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = f"{COOKIE_PREFIX}sessionid", f"{COOKIE_PREFIX}csrftoken"
# Only a trusted proxy can say whether a request came over TLS (dressage.asgi); without one, a redirect to https would
# loop.
SECURE_SSL_REDIRECT = _HTTPS and bool(TRUSTED_PROXIES)
SECURE_HSTS_SECONDS = config.hsts_s if _HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = _HTTPS and config.hsts_subdomains
# If these cannot be followed, one sentence of dressage.supervisor.exposure describes the consequences.
SILENCED_SYSTEM_CHECKS = ["security.W008"] if _HTTPS else [f"security.W{number:03}" for number in (4, 8, 10, 16)]
if not config.hsts_subdomains:  # deliberate: other names below this one may have no TLS
    SILENCED_SYSTEM_CHECKS += ["security.W005", "security.W021"]
# Workers reach the link on the internal address, where there is no TLS to redirect to.
SECURE_REDIRECT_EXEMPT = [r"^api/v1/link/"]
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_ENGINE = "dressage.teams.sessions.store"
SESSION_COOKIE_AGE = round(config.session_days * 24 * 3600)
SESSION_IDLE_S = config.session_idle_hours * 3600
SECOND_FACTOR = config.second_factor
OIDC_ISSUER = config.resolved_oidc_issuer
OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_NAME = config.oidc_client_id, config.oidc_client_secret, config.oidc_name
OIDC_DOMAINS = frozenset(name.strip().lower() for name in config.oidc_domains.split(",") if name.strip())
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
DATA_UPLOAD_MAX_MEMORY_SIZE = 8 * 2**20
FILE_UPLOAD_MAX_MEMORY_SIZE = 2**20

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "dressage.teams.authentication.TokenAuthentication",
        "dressage.teams.authentication.TeamSessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["dressage.common.api.permissions.IsViewer"],
    "DEFAULT_RENDERER_CLASSES": ["dressage.common.api.rendering.AnswerRenderer"],
    "DEFAULT_PARSER_CLASSES": ["dressage.common.api.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "dressage.common.openapi.schema.ProblemAutoSchema",
    "EXCEPTION_HANDLER": "dressage.common.api.problem_responses.exception_handler",
    "UNAUTHENTICATED_USER": None,
    # Its own parameter of the query would choose a renderer, and answer 404 if there is none of that name.
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Dressage",
    # The documentation page must work without the internet.
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "/favicon.svg",
    "DESCRIPTION": "Managed reinforcement-learning post-training, steered live.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": r"/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SORT_OPERATIONS": True,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "dressage.common.openapi.shared_parameters.share_parameters",
    ],
    # Scope and GoldilocksStage are components of their own.
    "ENUM_NAME_OVERRIDES": {
        "RunState": "dressage.runs.states.RunState",
        "DesiredState": "dressage.runs.states.DesiredState",
        "ControlState": "dressage.runs.states.ControlState",
        "Role": "dressage.common.roles.Role",
        "ScopeEnum": "dressage.common.scopes.Scope",
        "TokenState": "dressage.teams.standing.TokenState",
        "FindingSeverity": ["warn", "error"],
        "NoteSeverity": ["info", "warn"],
        "MessageRole": ["user", "assistant", "system", "developer"],
        "RehearsalState": "dressage.rehearsals.models.RehearsalState",
        "ServingState": "dressage.serving.models.ServingState",
        "BenchState": "dressage.bench.models.BenchState",
        "ImportState": "dressage.policies.models.ImportState",
        "LabKind": "dressage.lab.models.LabKind",
        "LabState": "dressage.lab.models.LabState",
        "RubricScale": ["binary", "likert"],
        "RefusalReason": "dressage.lab.reports.REFUSAL_REASONS",
        "GoldilocksStageEnum": ["first", "second"],
        "OutsideFirst": ["may_return", "stay_out"],
        "SuspectGolds": ["leave_out", "keep"],
        "GoldilocksState": "dressage.profiles.models.GoldilocksState",
        "SourceKind": "dressage.policies.models.SourceKind",
        "DatasetSourceKind": "dressage.datasets.models.DatasetSourceKind",
        "DatasetImportState": "dressage.datasets.models.DatasetImportState",
        "ProposalState": "dressage.rewards.models.proposal.ProposalState",
        "XAxis": ["step", "time", "tokens", "gpu_hours", "cost"],
    },
}

LANGUAGE_CODE = "en-gb"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "/static/"
STATIC_ROOT = HOME / "static"
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
FRONTEND_DIST = BASE_DIR / "frontend" / "dist"
# The console's files are at the root of the site; dressage.urls serves index.html for every page of the app.
WHITENOISE_USE_FINDERS = True
WHITENOISE_ROOT = FRONTEND_DIST if FRONTEND_DIST.is_dir() else None
# The build names these files by their content, so browsers can cache them forever.
WHITENOISE_IMMUTABLE_FILE_TEST = r"^/assets/.+-[\w-]{8}\.\w+$"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {
            "()": "trainer_core.log_lines.PlainFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
        },
        "json": {"()": "dressage.common.logs.json_formatter"},
    },
    "filters": {"brief-refusals": {"()": "dressage.common.logs.BriefRefusals"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT, "filters": ["brief-refusals"]}},
    "root": {"handlers": ["console"], "level": "INFO"},
    "loggers": {
        "httpx": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "django.request": {"level": "ERROR"},
        "celery": {"level": "WARNING"},
        # The web server has configured its own handlers before it loads us. Naming it here also resets its child
        # loggers: their levels, and the suppression of request lines, whose addresses may hold a secret.
        "uvicorn": {"handlers": [], "propagate": True, "level": "WARNING"},
        "uvicorn.access": {"handlers": [], "propagate": False},
    },
}
