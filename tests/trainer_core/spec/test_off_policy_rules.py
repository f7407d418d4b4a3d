"""Losses, corrections and sampling that contradict one another are refused; the others are accepted."""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.trainer_core.specs import spec
from trainer_core.spec import ControlError, apply_control, targets

TOKEN, SEQUENCE = {"type": "truncated_is"}, {"type": "truncated_is", "level": "sequence"}
MASKED, ICEPOP, OPSM = {"type": "masked_is"}, {"type": "icepop"}, {"type": "opsm"}
ANCHORED = ["dppo", "decoupled_ppo", "minpro", "vespo", "sequence_mask"]
OTHERS = ["ppo_clip", "reinforce", "cispo", "sapo", "kl_penalised"]


def refused(parts: dict[str, Any]) -> list[tuple[Any, str]]:
    with pytest.raises(ValidationError) as caught:
        spec(**parts)
    return [(error["loc"], error["msg"]) for error in caught.value.errors()]


@pytest.mark.parametrize("level", ["sequence", "token"])
@pytest.mark.parametrize("correction", [TOKEN, {**MASKED, "level": "token"}, ICEPOP])
def test_gspo_with_token_level_importance_sampling(level: str, correction: dict[str, Any]) -> None:
    found = refused({"loss": {"type": "gspo", "level": level}, "corrections": [correction]})
    message = "gspo weights whole sequences: a token-level ratio contradicts it (use level: sequence)"
    assert found == [(("corrections", 0), message)]


@pytest.mark.parametrize("loss", ANCHORED)
@pytest.mark.parametrize("correction", [TOKEN, SEQUENCE, MASKED, ICEPOP])
def test_a_ratio_that_would_count_twice(loss: str, correction: dict[str, Any]) -> None:
    (found,) = refused({"loss": {"type": loss}, "corrections": [OPSM, correction]})
    assert found == (("corrections", 1), f"{loss} already weights by the behaviour policy: it would count twice")


@pytest.mark.parametrize(("first", "second"), [(TOKEN, ICEPOP), (SEQUENCE, MASKED), (ICEPOP, SEQUENCE)])
def test_two_weights(first: dict[str, Any], second: dict[str, Any]) -> None:
    (found,) = refused({"corrections": [first, OPSM, second]})
    assert found == (
        ("corrections", 2),
        f"{first['type']} already weights every token by the importance ratio",
    )


@pytest.mark.parametrize("twice", [[TOKEN, SEQUENCE], [OPSM, {**OPSM, "divergence_max": 0.5}]])
def test_the_same_correction_twice(twice: list[dict[str, Any]]) -> None:
    (found,) = refused({"corrections": twice})
    assert found == (("corrections", 1), f"{twice[0]['type']} is given twice")


@pytest.mark.parametrize(
    ("correction", "field"),
    [
        ({**ICEPOP, "ratio_min": 2.0}, "ratio_min"),
        ({**ICEPOP, "ratio_max": 0.5}, "ratio_max"),
        ({**MASKED, "ratio_max": 0.5}, "ratio_max"),
        ({**TOKEN, "ratio_max": 0.5}, "ratio_max"),
        ({**OPSM, "divergence_max": -1.0}, "divergence_max"),
    ],
)
def test_a_bound_on_the_wrong_side_of_one(correction: dict[str, Any], field: str) -> None:
    (found,) = refused({"corrections": [correction]})
    assert found[0] == ("corrections", 0, correction["type"], field)


@pytest.mark.parametrize("sampling", [{"top_p": 0.9}, {"top_k": 40}])
@pytest.mark.parametrize("corrections", [[], [OPSM]])
def test_truncated_sampling_without_a_correction(sampling: dict[str, Any], corrections: list[dict[str, Any]]) -> None:
    (found,) = refused({"rollout": sampling, "corrections": corrections})
    assert found[0] == ("rollout", *sampling)
    assert "add an importance-sampling correction" in found[1]


@pytest.mark.parametrize("sampling", [{"top_p": 0.9}, {"top_k": 40}])
def test_truncated_sampling_with_one(sampling: dict[str, Any]) -> None:
    spec(rollout=sampling)
    spec(rollout=sampling, loss={"type": "dppo"}, corrections=[])


@pytest.mark.parametrize("loss", OTHERS)
@pytest.mark.parametrize("weights", [[], [TOKEN], [SEQUENCE], [MASKED], [ICEPOP]])
def test_what_goes_together(loss: str, weights: list[dict[str, Any]]) -> None:
    spec(loss={"type": loss}, corrections=weights)
    spec(loss={"type": loss}, corrections=[*weights, OPSM])


def test_sequence_levels_go_together() -> None:
    for level in ("sequence", "token"):
        for weights in ([], [SEQUENCE], [MASKED], [SEQUENCE, OPSM]):
            spec(loss={"type": "gspo", "level": level}, corrections=weights)


@pytest.mark.parametrize("loss", ANCHORED)
def test_losses_that_need_no_weight(loss: str) -> None:
    spec(loss={"type": loss}, corrections=[])
    spec(loss={"type": loss}, corrections=[OPSM])


SAMPLER = {"type": "sampler"}


def test_a_weight_between_two_policies_that_are_one() -> None:
    for correction in (TOKEN, MASKED, ICEPOP, {"type": "geometric_mask"}):
        (found,) = refused({"proximal": SAMPLER, "corrections": [OPSM, correction]})
        message = (
            f"{correction['type']} corrects between behaviour and proximal policy, which are the same here:"
            " set corrections: []"
        )
        assert found == (("corrections", 1), message)
    (found,) = refused({"proximal": SAMPLER, "loss": {"type": "decoupled_ppo"}, "corrections": []})
    assert found == (
        ("loss",),
        "decoupled_ppo weights by proximal to behaviour policy, which are the same here: choose ppo_clip",
    )
    spec(proximal=SAMPLER, corrections=[])
    spec(proximal=SAMPLER, corrections=[OPSM])


def test_the_sampler_as_proximal_policy_weighs_a_truncated_distribution() -> None:
    cut = {"group_size": 4, "top_p": 0.9}
    (found,) = refused({"rollout": cut, "corrections": []})
    assert found[0] == ("rollout", "top_p")
    spec(rollout=cut, corrections=[], proximal=SAMPLER)


@pytest.mark.parametrize("proximal", [{"type": "snapshot"}, {"type": "ewma"}, {"type": "interpolated"}, SAMPLER])
def test_a_proximal_policy_that_the_loss_never_looks_at(proximal: dict[str, Any]) -> None:
    for loss in ("reinforce", "dppo", "minpro", "vespo", "sequence_mask"):
        (found,) = refused({"loss": {"type": loss}, "corrections": [], "proximal": proximal})
        message = f"{loss} uses no ratio to a proximal policy: leave it at recompute"
        assert found == (("proximal",), message)
    for loss in ("ppo_clip", "cispo", "gspo", "sapo", "decoupled_ppo", "kl_penalised"):
        if (loss, proximal) == ("decoupled_ppo", SAMPLER):
            continue
        spec(loss={"type": loss}, corrections=[], proximal=proximal)


@pytest.mark.parametrize(
    ("target", "value"),
    [
        ("loss.ratio_max", 4.0),
        ("corrections.icepop.ratio_min", 0.4),
        ("corrections.icepop.ratio_max", 3.0),
        ("corrections.opsm.divergence_max", 0.5),
    ],
)
def test_bounds_are_steered_by_the_name_of_their_method(target: str, value: float) -> None:
    before = spec(loss={"type": "cispo"}, corrections=[OPSM, ICEPOP])
    after = apply_control(before, target, value)
    assert {t.path: t.value for t in targets(after)} == {t.path: t.value for t in targets(before)} | {target: value}
    with pytest.raises(ControlError):
        apply_control(before, target, -1.0)
