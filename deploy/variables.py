"""Names of the variables that the platform reads, extracted from its source: this tool needs none of its packages."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CONFIG = ROOT / "platform" / "dressage" / "config.py"
SECRETS = {
    "DATABASE_URL": "database-url",
    "REDIS_URL": "redis-url",
    "DRESSAGE_SECRET_KEY": "secret-key",  # nosec B105
    "DRESSAGE_CLUSTER_SECRET": "cluster-secret",  # nosec B105
    "DRESSAGE_ENCRYPTION_KEYS": "encryption-keys",
    "DRESSAGE_EMAIL_URL": "email-url",
    "DRESSAGE_OIDC_CLIENT_SECRET": "oidc-client-secret",  # nosec B105
}
"""Variables whose values are secret, and the key of each in the installation's Secret."""


_SHARED = {"FORMAT_VARIABLE": "DRESSAGE_LOG_FORMAT"}
"""Names that ``Config`` gets from a constant, since workers read the variable too."""


@cache
def known_variables() -> frozenset[str]:
    """Every ``alias`` of a field of the platform's ``Config``."""
    calls = [node for node in ast.walk(ast.parse(CONFIG.read_text())) if isinstance(node, ast.Call)]
    named = [word.value for call in calls for word in call.keywords if word.arg == "alias"]
    written = {str(value.value) for value in named if isinstance(value, ast.Constant)}
    return frozenset(written | {_SHARED[value.id] for value in named if isinstance(value, ast.Name)})
