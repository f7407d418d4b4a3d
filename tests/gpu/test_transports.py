"""Weights between processes on cards: one card's memory mapped by another process, and NCCL from card to card.

On the CPU the same processes pass the same handles, of memory in files, and the same buckets, which gloo moves.
"""

from contextlib import ExitStack

import pytest

from tests.gpu import travellers
from tests.support.about import RANKS
from tests.worker.learner.travelling import expected

pytestmark = pytest.mark.expensive(15, "starts processes between which weights travel", about=(*RANKS, "worker/engine"))


def test_another_process_maps_the_memory_of_a_card(device: str) -> None:
    with travellers.process(device) as learner, travellers.process(device) as engine:
        learner.submit(travellers.send_by, "cuda_ipc").result()
        sent = {version: learner.submit(travellers.packed, version).result() for version in (1, 2)}
        for version in (1, 2):
            assert engine.submit(travellers.received, "cuda_ipc", sent[version]).result() == expected(version)
        assert engine.submit(travellers.where, "cuda_ipc", sent[1]).result() == {device}, "nothing was brought here"
        learner.submit(travellers.keep, 2).result()
        assert engine.submit(travellers.received, "cuda_ipc", sent[2]).result() == expected(2)
        learner.submit(travellers.stop_sending).result()


def test_an_engine_on_the_learners_card_passes_the_probe(device: str) -> None:
    with travellers.process(device) as learner, travellers.process(device) as engine:
        learner.submit(travellers.send_by, "cuda_ipc").result()
        for version in (1, 2):
            sent = learner.submit(travellers.published, version).result()
            assert engine.submit(travellers.served, sent).result() == 0.0


@pytest.mark.parametrize(
    ("device", "engines"),
    [
        ("cpu", 1),
        ("cpu", 2),
        pytest.param("cuda", 1, marks=pytest.mark.gpu(2)),
        pytest.param("cuda", 2, marks=pytest.mark.gpu(3)),
    ],
    ids=["cpu, point to point", "cpu, broadcast", "cuda, point to point", "cuda, broadcast"],
)
def test_nccl_carries_versions_from_card_to_card(device: str, engines: int) -> None:
    with ExitStack() as processes:
        learner, *others = [processes.enter_context(travellers.process(device, card)) for card in range(engines + 1)]
        learner.submit(travellers.send_by, "distributed", engines).result()
        for version in (1, 2):
            sent = learner.submit(travellers.packed, version).result()
            answers = [engine.submit(travellers.received, "distributed", sent) for engine in others]
            assert [answer.result() for answer in answers] == [expected(version)] * engines
        learner.submit(travellers.stop_sending).result()
