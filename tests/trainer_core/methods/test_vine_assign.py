"""VinePPO in trajectories: where steps begin, and what their tokens are worth."""

import numpy as np
import pytest
from pydantic import ValidationError

from tests.trainer_core.batches import group, trajectory
from tests.trainer_core.specs import spec
from trainer_core.methods.advantages.assign import assign
from trainer_core.methods.advantages.steps import step_starts
from trainer_core.spec.methods.branching import VineAdvantage

PLAIN = VineAdvantage(whiten="none")


def starts(text: list[str], forced: tuple[int, ...] = (), **parts: object) -> list[int]:
    sampled = np.ones(len(text), np.bool_)
    sampled[list(forced)] = False
    return step_starts(VineAdvantage.model_validate({"type": "vine", **parts}), text, sampled)


def test_steps_begin_behind_separators_however_tokens_cut_them() -> None:
    assert starts(["a", "\n", "b", "c\n", "d"]) == [2, 4]
    assert starts(["a", "\n", "\n", "b", "\n\n\n", "c"]) == [3, 5]
    # The separator may be spread over tokens, or stand in the middle of one; what ends the completion begins nothing.
    steps = {"type": "text", "separator": "</s>"}
    assert starts(["a<", "/s", ">b", "c", "</s>"], steps=steps) == [3]
    assert starts(["a", "b"]) == []


def test_steps_of_tokens_and_their_bound() -> None:
    steps = {"type": "tokens", "every": 2}
    assert starts(["x"] * 7, steps=steps) == [2, 4, 6]
    assert starts(["x"] * 20, steps=steps, max_states=3) == [2, 10, 18]
    assert starts(["x"] * 2, steps=steps) == []


def test_no_step_begins_with_a_forced_token() -> None:
    steps = {"type": "tokens", "every": 2}
    assert starts(["x"] * 7, forced=(2, 3, 4), steps=steps) == [5, 6]
    assert starts(["x"] * 4, forced=(2, 3), steps=steps) == []
    # The first sampled token is where the prompt's own state stands.
    assert starts(["x"] * 4, forced=(0, 1), steps={"type": "tokens", "every": 1}) == [3]


def test_each_token_is_worth_what_its_step_has_changed() -> None:
    one = trajectory(1.0, length=6, step_starts=np.array([0, 2, 3], np.int32), state_values=np.array([0.5, 0.75, 0.25]))
    one.sampled[4] = False
    other = trajectory(0.0, length=2, step_starts=np.array([0], np.int32), state_values=np.array([0.5]))
    assign(PLAIN, [group([one, other])])
    assert one.token_advantages is not None and other.token_advantages is not None
    assert one.token_advantages.tolist() == [0.25, 0.25, -0.5, 0.75, 0.0, 0.75]
    assert other.token_advantages.tolist() == [-0.5, -0.5]
    assert (one.advantage, other.advantage) == (0.5, -0.5)
    assert one.token_advantages.dtype == np.float32


def test_whitened_over_the_sampled_tokens_of_the_batch() -> None:
    members = [
        trajectory(reward, length=length, step_starts=np.array([0], np.int32), state_values=np.array([0.25]))
        for reward, length in ((1.0, 3), (0.0, 5))
    ]
    members[1].sampled[:2] = False
    assign(VineAdvantage(whiten="batch"), [group(members[:1]), group(members[1:], index=1)])
    every = np.concatenate([t.token_advantages[t.sampled] for t in members if t.token_advantages is not None])
    expected = np.array([0.75] * 3 + [-0.25] * 3)
    np.testing.assert_allclose(every, (expected - expected.mean()) / expected.std(), rtol=1e-6)
    assert members[1].token_advantages is not None and (members[1].token_advantages[:2] == 0).all()
    alike = trajectory(0.5, step_starts=np.array([0], np.int32), state_values=np.array([0.25]))
    assign(VineAdvantage(whiten="batch"), [group([alike])])
    assert alike.token_advantages is not None and (alike.token_advantages == 0).all()


def test_without_a_value_or_a_reward_nothing_is_learned() -> None:
    failed, unvalued = trajectory(None), trajectory(1.0)
    assign(PLAIN, [group([failed, unvalued])])
    assert (failed.excluded, unvalued.excluded) == ("reward_error", "no_value")
    assert failed.token_advantages is None and unvalued.token_advantages is None


VINE = {"type": "vine"}


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            {"reward": {"definition": "r@1", "length": {"type": "magistral", "buffer": 8}}},
            "no group to compare lengths in",
        ),
        ({"filters": [{"type": "length_outliers"}]}, "changes rewards after the branches"),
        ({"rollout": {"partial": {"over_provision": 1.5}}}, "a full batch would stop unfinished branches"),
        ({"advantage": {**VINE, "steps": {"type": "tokens", "every": 128}}}, "a step of 128 tokens never ends"),
        ({"critic": {"type": "head"}}, "the advantage vine uses no critic"),
        ({"rollout": {"mode": {"type": "streamed"}}}, "vine needs the whole batch"),
    ],
)
def test_what_contradicts_branches_is_refused(parts: dict, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        spec(**{"advantage": VINE, **parts})


def test_without_whitening_vine_may_be_streamed_and_needs_no_group() -> None:
    advantage = {**VINE, "whiten": "none"}
    assert spec(advantage=advantage, rollout={"group_size": 1, "mode": {"type": "streamed"}})
