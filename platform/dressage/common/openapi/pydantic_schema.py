"""OpenAPI components of pydantic models, under names that cannot collide with those of our resources."""

from typing import Any

from drf_spectacular.contrib.pydantic import PydanticExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent


class PrefixedPydanticExtension(PydanticExtension):
    """Inner models carry the outer one's name: the policy part of a run spec is ``RunSpecPolicy``, not ``Policy``.

    drf-spectacular's own extension uses the bare name and silently lets the first one win.
    """

    priority = 1

    def map_serializer(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        prefix = self.target.__name__
        schema = self.target.model_json_schema(ref_template=f"#/components/schemas/{prefix}{{model}}")
        for name, inner in schema.pop("$defs", {}).items():
            component = ResolvedComponent(
                name=prefix + name, type=ResolvedComponent.SCHEMA, object=(self.target, name), schema=inner
            )
            auto_schema.registry.register_on_missing(component)
        return schema
