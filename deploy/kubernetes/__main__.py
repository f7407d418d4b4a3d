"""``python -m deploy.kubernetes values.yaml > manifests.yaml``; with ``--chart FOLDER`` a Helm chart instead."""

import argparse
import json
import sys
from pathlib import Path

from deploy.images.lock import LOCK, LockError, read_lock
from deploy.kubernetes.chart import values_schema, write_chart
from deploy.kubernetes.reading import ValuesError, read_values
from deploy.kubernetes.render import render, text_of


def main(arguments: list[str] | None = None) -> int:
    """Write the manifests or the chart; exit status 1 with a sentence for each fault."""
    parser = argparse.ArgumentParser(prog="python -m deploy.kubernetes", description="Manifests from typed values.")
    parser.add_argument("values", nargs="?", type=Path, help="YAML file with the values")
    parser.add_argument("--lock", type=Path, default=LOCK, help="lock of images to use instead of the checkout's")
    parser.add_argument("--chart", type=Path, metavar="FOLDER", help="write a Helm chart into this folder")
    parser.add_argument("--schema", action="store_true", help="print the JSON Schema of the values")
    given = parser.parse_args(arguments)
    if given.schema:
        print(json.dumps(values_schema(), indent=2))
        return 0
    if given.values is None:
        parser.error("name the file with the values")
    try:
        values, images = read_values(given.values), read_lock(given.lock)
        if given.chart:
            write_chart(given.chart, values, images)
        else:
            sys.stdout.write(text_of(render(values, images)))
    except (ValuesError, LockError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
