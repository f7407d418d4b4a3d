"""Published times of weight updates."""

from trainer_core.planning.cluster.hardware import GIGABYTE, Cluster, GpuLink, cluster_of
from trainer_core.planning.cluster.layout import EngineLayout
from trainer_core.planning.cluster.publication import PublicationPlan
from trainer_core.planning.cluster.published.claim import Claim, Unknown
from trainer_core.planning.cluster.rates import ClusterAttained
from trainer_core.planning.cluster.scale import SCALES
from trainer_core.planning.rates import SyncRates

CHANGED = 0.0235
"""Share of the weights that had changed: the middle of the range in verl's thread (2.1 to 2.6 %)."""


def _network(cluster: Cluster, gigabits: float) -> Cluster:
    node = cluster.node
    link = GpuLink(gigabits / 8 * GIGABYTE, node.network.latency)
    return Cluster(type(node)(node.machine, node.inside, link, node.host), cluster.nodes, cluster.store)


def _seconds(sync: SyncRates) -> float:
    return sync.publish_seconds + sync.load_seconds


def _checkpoint_engine(model: str, gpu: str, gpus: int, tensor: int, width: int, seconds: float, fitted: bool) -> Claim:
    def compute(at: ClusterAttained, gigabits: float) -> float:
        cluster = _network(cluster_of(gpu, gpus), gigabits)
        layout = EngineLayout(tensor, across_nodes=True, width=width)
        weights = SCALES[model].parameters * width
        return _seconds(PublicationPlan("sharded").sync(cluster, weights, gpus // tensor, layout, gpus, at))

    return Claim(
        system="checkpoint-engine",
        figure=f"{model}, {'FP8' if width == 1 else 'bfloat16'}, {gpus}× {gpu}, TP {tensor}: broadcast",
        published=seconds,
        unit="s",
        source="its README's table",
        fitted=fitted,
        unknown=Unknown("network of a GPU, Gbit/s", 400, 200, 400),
        compute=compute,
    )


def _perplexity(at: ClusterAttained, gpus_per_engine: float) -> float:
    cluster = cluster_of("H200", 384)
    layout = EngineLayout(int(gpus_per_engine), across_nodes=True, width=1)
    engines = 128 // layout.tensor
    return _seconds(
        PublicationPlan("point_to_point").sync(cluster, SCALES["Kimi-K2"].parameters, engines, layout, 256, at)
    )


def _verl(model: str, gpus: int, way: str, seconds: float, fitted: bool) -> Claim:
    def compute(at: ClusterAttained, changed: float) -> float:
        cluster, layout = cluster_of("H100", gpus), EngineLayout(8)
        publication = PublicationPlan("delta", changed) if way == "delta" else PublicationPlan("gathered")
        weights = SCALES[model].parameters * 2
        return _seconds(publication.sync(cluster, weights, gpus // 2 // layout.tensor, layout, gpus // 2, at))

    return Claim(
        system="verl",
        figure=f"{model}, bfloat16, H100: {way}",
        published=seconds,
        unit="s",
        source="verl#7060",
        fitted=fitted,
        unknown=Unknown("share of the weights that changed", CHANGED, 0.021, 0.026),
        compute=compute,
    )


TRANSFERS = (
    _checkpoint_engine("GLM-4.5-Air", "H800", 8, 8, 2, 3.47, True),
    _checkpoint_engine("DeepSeek-V3", "H20", 16, 16, 1, 10.19, True),
    _checkpoint_engine("DeepSeek-V3", "H20", 256, 16, 1, 11.33, True),
    _checkpoint_engine("Qwen3-235B-A22B", "H800", 8, 8, 2, 6.22, False),
    _checkpoint_engine("Kimi-K2", "H20", 16, 16, 1, 14.36, False),
    _checkpoint_engine("Kimi-K2", "H20", 256, 16, 1, 16.04, False),
    Claim(
        system="Perplexity",
        figure="Kimi-K2, FP8, 256 → 128 GPUs: point to point (an upper bound)",
        published=1.3,
        unit="s",
        source="its article on weight transfer",
        fitted=False,
        unknown=Unknown("GPUs of one engine", 16, 16, 128),
        compute=_perplexity,
    ),
    _verl("Qwen2.5-32B", 32, "gathered", 14.2, True),
    _verl("Qwen2.5-32B", 32, "delta", 6.2, True),
    _verl("Qwen2.5-72B", 64, "gathered", 28.8, False),
    _verl("Qwen2.5-72B", 64, "delta", 12.5, False),
)
"""Published times of weight updates."""
