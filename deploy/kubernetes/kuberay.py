"""The part of KubeRay's RayCluster (ray.io/v1) that the manifests use, as strict types.

KubeRay's own schemas are not in this repository; ``tests/deploy`` compares with them if their path is given.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

Json = dict[str, Any]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True)


class AuthOptions(_Strict):
    """Ray's own token, which every connection within the cluster must show."""

    mode: Literal["token"] = "token"
    secret_name: str


class AutoscalerOptions(_Strict):
    """The autoscaler's container next to the head."""

    version: Literal["v2"] = "v2"
    idle_timeout_seconds: int
    image_pull_policy: Literal["IfNotPresent"] = "IfNotPresent"
    resources: Json
    security_context: Json
    volume_mounts: tuple[Json, ...] = ()


class HeadGroupSpec(_Strict):
    """The head: one pod."""

    ray_start_params: dict[str, str]
    service_type: Literal["ClusterIP"] = "ClusterIP"
    enable_ingress: Literal[False] = False
    template: Json


class WorkerGroupSpec(_Strict):
    """Workers of one kind."""

    group_name: str
    replicas: int
    min_replicas: int
    max_replicas: int
    ray_start_params: dict[str, str]
    template: Json


class RayClusterSpec(_Strict):
    """The cluster as a whole."""

    ray_version: str
    auth_options: AuthOptions
    head_group_spec: HeadGroupSpec
    worker_group_specs: tuple[WorkerGroupSpec, ...] = ()
    enable_in_tree_autoscaling: bool = False
    autoscaler_options: AutoscalerOptions | None = None

    def manifest(self) -> Json:
        """The document as KubeRay reads it."""
        return self.model_dump(by_alias=True, exclude_none=True, mode="json")
