"""Variables with secrets are not given to processes that have no use for them: actors run what a policy has written."""

import re
from pathlib import Path

from dressage.config import Config
from dressage.supervisor.processes import services
from dressage.supervisor.ray_head import RayHead

SECRET = re.compile(r"SECRET|_KEYS?$|PASSWORD|TOKEN$|(EMAIL|DATABASE|REDIS)_URL$")
OF_THE_CLUSTER = {"REDIS_URL", "DRESSAGE_CLUSTER_SECRET"}
"""What the workers of the queue need, and their actors do not."""


def test_secrets_of_the_platform_stay_there(tmp_path: Path) -> None:
    secrets = {str(field.alias) for field in Config.model_fields.values() if SECRET.search(str(field.alias))}
    assert {"DRESSAGE_SECRET_KEY", "DRESSAGE_EMAIL_URL", "DATABASE_URL", *OF_THE_CLUSTER} <= secrets
    head = RayHead(home=tmp_path, port=1)
    hidden = {process.name: set(process.hidden) for process in services(Config.model_validate({}), head)}
    assert secrets <= hidden["ray"]
    assert secrets - OF_THE_CLUSTER <= hidden["cluster"]
