"""The constant-time random pool behaves as a set."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from trainer_core.steering.curriculum.pool import IndexPool


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 12)), max_size=60))
def test_behaves_as_a_set(moves: list[tuple[bool, int]]) -> None:
    pool, model = IndexPool(), set()
    for adds, member in moves:
        (pool.add if adds else pool.discard)(member)
        (model.add if adds else model.discard)(member)
        assert sorted(pool.members()) == sorted(model)
        assert len(pool) == len(model)
        assert all((number in pool) == (number in model) for number in range(13))
        if model:
            assert pool.choose(Random(0)) in model


def test_choices_are_uniform() -> None:
    pool, rng = IndexPool(range(10)), Random(0)
    pool.discard(0)
    counts = [0] * 10
    for _ in range(9000):
        counts[pool.choose(rng)] += 1
    assert counts[0] == 0
    assert all(abs(count - 1000) < 5 * 30 for count in counts[1:])
