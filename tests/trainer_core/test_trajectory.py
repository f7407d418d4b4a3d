"""A trajectory that is cut short."""

from dataclasses import fields

import numpy as np

from tests.trainer_core.batches import trajectory
from trainer_core.episodes import PER_TOKEN, Trajectory, Turn


def test_every_array_is_of_the_tokens_or_known_not_to_be() -> None:
    arrays = {field.name for field in fields(Trajectory) if "ndarray" in str(field.type)}
    assert arrays - set(PER_TOKEN) == {"prompt_ids", "step_starts", "state_values", "routes"}


def test_it_keeps_what_is_known_of_the_first_tokens() -> None:
    one = trajectory(length=6, thinking_tokens=5)
    one.turns = (Turn("policy", 0), Turn("tool", 3), Turn("policy", 5))
    one.top_ids, one.entropy = np.arange(12, dtype=np.int32).reshape(6, 2), np.arange(6, dtype=np.float32)
    one.routes = np.zeros((3 + 6 - 1, 1, 2), np.uint8)
    one.cut(2)
    assert one.length == 2 and one.thinking_tokens == 2
    assert one.token_ids.tolist() == [0, 1] and one.entropy.tolist() == [0.0, 1.0]
    assert one.top_ids.tolist() == [[0, 1], [2, 3]] and one.top_logprobs is None
    assert one.turns == (Turn("policy", 0),)
    assert len(one.routes) == 3 + 2 - 1  # of the prompt's tokens too, but not of the last
    one.cut(4)
    assert one.length == 2
