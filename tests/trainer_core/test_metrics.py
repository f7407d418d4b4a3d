"""The metrics registry."""

import pytest

from trainer_core.metrics import METRICS, find, placeholders


def test_every_metric_explains_itself() -> None:
    for name, metric in METRICS.items():
        assert metric.name == name
        assert metric.title and metric.unit and metric.formula and metric.group, name


def test_titles_and_aliases_are_unambiguous() -> None:
    titles = [metric.title for metric in METRICS.values()]
    assert len(set(titles)) == len(titles)
    aliases = [alias for metric in METRICS.values() for alias in metric.aliases.items()]
    assert len(set(aliases)) == len(aliases)
    assert {framework for framework, _ in aliases} == {"trl", "prime_rl"}


@pytest.mark.parametrize(
    ("name", "entry", "held"),
    [
        ("actor/entropy", "actor/entropy", {}),
        ("train/pass_rate/add_sub", "train/pass_rate/<source>", {"source": "add_sub"}),
        ("eval/held-out/score/mean", "eval/<source>/score/mean", {"source": "held-out"}),
        ("reward_parts/overlong/mean", "reward_parts/<component>/mean", {"component": "overlong"}),
    ],
)
def test_a_reported_name_finds_its_entry(name: str, entry: str, held: dict[str, str]) -> None:
    found = find(name)
    assert found is not None and found.name == entry
    assert placeholders(name) == held


@pytest.mark.parametrize(
    "name", ["", "actor", "actor/entropy/x", "train/pass_rate/", "train/pass_rate/a/b", "train/mix/<source>", "eval/a"]
)
def test_an_unknown_name_finds_nothing(name: str) -> None:
    assert find(name) is None


def test_other_frameworks_names_stand_at_the_same_quantity() -> None:
    for framework, alias, name in (
        ("trl", "reward", "critic/score/mean"),
        ("trl", "clip_ratio/high_mean", "actor/clip_high_share"),
        # prime-rl's mismatch KL is w − 1 − log w, TRL's mean difference is absolute: neither is the k1 estimator.
        ("prime_rl", "mismatch_kl/all/mean", "rollout_corr/k3_kl"),
        ("trl", "sampling/sampling_logp_difference/max", "rollout_corr/max_abs_logp_diff"),
    ):
        assert METRICS[name].aliases[framework] == alias
    known = {alias for metric in METRICS.values() for alias in metric.aliases.items()}
    assert ("trl", "sampling/sampling_logp_difference/mean") not in known
    assert ("prime_rl", "reward") not in known
