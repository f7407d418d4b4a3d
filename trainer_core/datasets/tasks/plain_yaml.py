"""YAML for task descriptions: names, texts and lists. Numbers and dates stay text.

Features that can blow up a small file or create objects are rejected: aliases, and tags other than those of plain
values.
"""

from typing import Any

import yaml

_PLAIN = tuple(f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null", "seq", "map"))
_MAX_LISTS = 500
_NULL = ("~", "null", "Null", "NULL")


class _Loader(yaml.BaseLoader):
    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent):
            raise yaml.YAMLError("it contains aliases (*name)")
        if getattr(event, "tag", None) not in (None, "!", *_PLAIN):
            raise yaml.YAMLError("it contains tags (!name)")
        node = super().compose_node(parent, index)
        if isinstance(node, yaml.ScalarNode) and node.style is None and node.value in _NULL:
            node.value = ""
        return node


def read_yaml(text: str) -> Any:
    """The value of a document: mappings, lists and texts, with null as the empty text.

    Raises:
        ValueError: with a message about what is wrong.
        RecursionError: it is nested too deep.
    """
    if text.count("[") + text.count("{") > _MAX_LISTS:  # nested lists take the parser very long
        raise ValueError(f"it contains more than {_MAX_LISTS} lists and mappings")
    try:
        return yaml.load(text, _Loader) or None  # nosec B506: creates only texts
    except yaml.YAMLError as error:
        told = getattr(error, "problem", None) or (str(error).splitlines() or [""])[0]
        raise ValueError(told) from error
