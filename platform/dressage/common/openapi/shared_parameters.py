"""Parameters that several operations declare identically, as components of the OpenAPI document."""

import json
from collections import Counter, defaultdict
from typing import Any

_COMPONENTS = "#/components/parameters/"


def share_parameters(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Replace repeated parameters with references; a hook of drf-spectacular.

    For each name, the declaration that most operations repeat becomes the component of that name. Other declarations of
    the name stay in their operations.
    """
    operations = [operation for methods in result["paths"].values() for operation in methods.values()]
    declarations: dict[str, Counter[str]] = defaultdict(Counter)
    for operation in operations:
        for parameter in operation.get("parameters", []):
            declarations[parameter["name"]][json.dumps(parameter)] += 1
    most = {name: found.most_common(1)[0] for name, found in sorted(declarations.items())}
    shared = {name: json.loads(text) for name, (text, count) in most.items() if count > 1}
    for operation in operations:
        if "parameters" in operation:
            operation["parameters"] = [
                {"$ref": _COMPONENTS + one["name"]} if one == shared.get(one["name"]) else one
                for one in operation["parameters"]
            ]
    result["components"] = dict(sorted({**result["components"], "parameters": shared}.items()))
    return result
