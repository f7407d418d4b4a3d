"""The installation of before, put into a database of its own; run in a process of the installation.

``python manage.py shell --command "from tests.platform.upgrade.former import …"``
"""

import json
import re
from pathlib import Path
from typing import Any

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

FORMER = Path(__file__).resolve().parents[2] / "data" / "installation"
_COPY = re.compile(r'COPY ("\w+" \(.*\)) FROM STDIN;')


def migrations() -> list[tuple[str, str]]:
    """(app, name) of every migration that was applied then."""
    head = re.findall(r"^-- migration (\w+) (\w+)$", (FORMER / "database.sql").read_text(), re.MULTILINE)
    return [(app, name) for app, name in head]


def restore(home: str) -> None:
    """Make the tables as they were then, and fill them. The database is empty before."""
    leaves = dict(migrations())  # of each app the last one counts
    MigrationExecutor(connection).migrate(list(leaves.items()))
    applied = {(app, name) for app, name in MigrationRecorder(connection).applied_migrations()}
    assert applied == set(migrations()), applied ^ set(migrations())
    lines = iter((FORMER / "database.sql").read_text().replace("@HOME@", home).split("\n"))
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")  # rows come in the order of their tables' names
        for line in lines:
            if found := _COPY.fullmatch(line):
                with cursor.copy(f"COPY {found[1]} FROM STDIN") as sink:
                    for row in iter(lines.__next__, "\\."):
                        sink.write(row + "\n")
            elif line.startswith("SELECT"):
                cursor.execute(line)
        # Answers are kept for a day: let it be the same day still.
        cursor.execute("UPDATE common_storedresponse SET created_at = now()")


def ask(questions: str, answers: str) -> None:
    """Answer the requests in a file, each ``{method, path, headers, body}``, in one browser, in order."""
    client = Client(SERVER_NAME="127.0.0.1", enforce_csrf_checks=True)
    found = []
    for question in json.loads(Path(questions).read_text()):
        body: dict[str, Any] = {}
        if "body" in question:
            body = {"data": json.dumps(question["body"]), "content_type": "application/json"}
        headers = dict(question.get("headers", {}))
        if "csrftoken" in client.cookies:
            headers["X-CSRFToken"] = client.cookies["csrftoken"].value
        response = getattr(client, question["method"])(f"/api/v1{question['path']}", headers=headers, **body)
        text = b"".join(response) if response.streaming else response.content
        is_json = response.headers.get("Content-Type", "").endswith("json")
        found.append(
            {
                "status": response.status_code,
                "body": json.loads(text) if is_json and text else len(text),
                "replayed": response.headers.get("Idempotency-Replayed"),
            }
        )
    Path(answers).write_text(json.dumps(found))
