"""The job that backs up the installation, with the same script as in the compose file."""

from pathlib import Path

from deploy.kubernetes.objects import DATABASE_CLIENT, Installation, Manifest
from deploy.kubernetes.pods import HOME, container, database, home_volume, pod, sized
from deploy.kubernetes.servers import claim
from deploy.kubernetes.values import Resources

SCRIPTS = Path(__file__).resolve().parents[1] / "backup"


def backups(installation: Installation) -> list[Manifest]:
    """A CronJob with its scripts and its volume; empty if backups are off."""
    wanted = installation.values.backups
    if wanted is None:
        return []
    name = installation.name("backup")
    scripts = {path.name: path.read_text() for path in sorted(SCRIPTS.glob("*.sh"))}
    main = container(
        "backup",
        installation.image("postgres"),
        ["bash", "/scripts/backup.sh", "/backups"],
        sized(Resources(cpu="250m", memory="512Mi")),
        env=[
            *database(installation),
            {"name": "DRESSAGE_HOME", "value": HOME},
            {"name": "BACKUPS_KEPT", "value": str(wanted.keep)},
        ],
        volumeMounts=[
            {"name": "home", "mountPath": HOME, "readOnly": True},
            {"name": "backups", "mountPath": "/backups"},
            {"name": "scripts", "mountPath": "/scripts", "readOnly": True},
        ],
    )
    claimed = wanted.storage.existing_claim or installation.name("backups")
    volumes = [
        home_volume(installation),
        {"name": "backups", "persistentVolumeClaim": {"claimName": claimed}},
        {"name": "scripts", "configMap": {"name": name}},
    ]
    template = pod(installation, "backup", [main], labels=DATABASE_CLIENT, volumes=volumes, restartPolicy="Never")
    spec = {
        "schedule": wanted.schedule,
        "concurrencyPolicy": "Forbid",
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 3,
        "jobTemplate": {"spec": {"backoffLimit": 2, "template": template}},
    }
    return [
        installation.object("ConfigMap", "v1", name, "backup", {"data": scripts}),
        *claim(installation, "backups", wanted.storage, "ReadWriteOnce"),
        installation.object("CronJob", "batch/v1", name, "backup", {"spec": spec}),
    ]
