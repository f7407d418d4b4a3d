"""Weights between processes: exact for every type and reader, and refused in words where they are not what was sent."""

from __future__ import annotations

import fcntl
import json
import os
import pickle
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.shared_memory import SharedMemory as PythonSharedMemory
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.support.about import TRAINING
from tests.worker.learner.travelling import expected, fingerprint, handed_over, layers, process, read, shared_memory_of
from worker.errors import StartError, WeightsUnread
from worker.learner.transport import TRANSPORTS, WeightTransport
from worker.learner.transport.choice import ChosenTransport, Travel, choose
from worker.learner.transport.cuda_ipc import CudaIpc
from worker.learner.transport.distributed import Distributed
from worker.learner.transport.files import Files
from worker.learner.transport.segment import MAGIC, MemorySegment, open_segment
from worker.learner.transport.shared_memory import SharedMemory
from worker.learner.transport.topology import Topology
from worker.learner.weights import WeightBundle

BETWEEN_PROCESSES = ("shared_memory", "distributed", "files")


@pytest.fixture(scope="module")
def readers() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


@pytest.fixture(params=BETWEEN_PROCESSES)
def sender(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[WeightTransport]:
    found = TRANSPORTS[request.param].sender(Topology(engines=2, location=str(tmp_path), folder="run-1"))
    yield found
    found.close()


def test_a_segment_of_this_process_is_counted() -> None:
    before = shared_memory_of(os.getpid())
    segment = PythonSharedMemory(create=True, size=4096)
    assert shared_memory_of(os.getpid()) - before == {f"/dev/shm/{segment.name}"}
    segment.close()
    segment.unlink()
    assert shared_memory_of(os.getpid()) <= before


@pytest.mark.expensive(6, "starts a learner", about=TRAINING)
def test_two_readers_find_every_type_exactly(sender: WeightTransport, readers: ProcessPoolExecutor) -> None:
    before = shared_memory_of(os.getpid())
    for version in (1, 2):
        sent = pickle.dumps(sender.pack(version, iter(layers(version))))
        answers = [readers.submit(read, sender.name, sent) for _ in range(2)]
        assert [answer.result() for answer in answers] == [expected(version)] * 2
    assert shared_memory_of(os.getpid()) <= before
    assert [shared_memory_of(pid) for pid in readers._processes] == [set()] * len(readers._processes)


def test_a_reader_may_come_late_until_the_version_is_given_back(
    sender: WeightTransport, readers: ProcessPoolExecutor
) -> None:
    first, second = (sender.pack(version, layers(version)) for version in (1, 2))
    sender.keep([first, second])
    assert readers.submit(read, sender.name, pickle.dumps(first)).result() == expected(1)
    assert fingerprint(sender.unpack(first)) == expected(1)
    sender.keep([second])
    refused = readers.submit(read, sender.name, pickle.dumps(first)).result()
    assert (isinstance(refused, str) and refused.startswith("the weights are no longer")) or "does not exist" in refused
    assert readers.submit(read, sender.name, pickle.dumps(second)).result() == expected(2)


@pytest.mark.parametrize("name", ["shared_memory", "files", "broken"])
def test_weights_whose_writer_has_ended_are_told_apart_from_an_engines_faults(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topology = Topology(location=str(tmp_path), folder="run-1")
    kind = "files" if name == "broken" else name
    ended = TRANSPORTS[kind].sender(topology)
    published = WeightBundle(1, ended.pack(1, layers(1)), [], [], kind)
    assert fingerprint(published.unpacked()) == expected(1)
    ended.close()
    received = pickle.loads(pickle.dumps(published))
    if name == "broken":

        def unreadable(packed: Any) -> None:
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(TRANSPORTS[kind], "unpack", unreadable)
    for read_them in (lambda: received.fetch(None), received.unpacked):
        with pytest.raises(WeightsUnread, match=r"no longer in|does not exist|Input/output") as raised:
            read_them()
        assert type(pickle.loads(pickle.dumps(raised.value))) is WeightsUnread, "Ray passes it on"


WRITER = """
import json, os, pickle, signal, sys
from tests.worker.learner.travelling import layers, shared_memory_of
from worker.learner.transport import TRANSPORTS
from worker.learner.transport.topology import Topology

def dying():
    for layer in layers(2):
        yield layer
        sys.stdout.buffer.write(json.dumps(list(shared_memory_of(os.getpid()))).encode()); sys.stdout.flush()
        os.kill(os.getpid(), signal.SIGKILL)

sender = TRANSPORTS[sys.argv[1]].sender(Topology(location=sys.argv[2], folder="run-1"))
pickle.dump(sender.pack(1, layers(1)), sys.stdout.buffer); sys.stdout.flush()
sys.stdin.readline()
sender.pack(2, dying())
"""


@pytest.mark.expensive(3, "starts a learner", about=TRAINING)
@pytest.mark.parametrize("name", BETWEEN_PROCESSES)
def test_a_writer_that_is_killed_in_mid_write_leaves_nothing_that_could_be_taken_for_weights(
    name: str, readers: ProcessPoolExecutor, tmp_path: Path
) -> None:
    writer = process(WRITER, name, str(tmp_path))
    sent = handed_over(writer)
    assert readers.submit(read, name, pickle.dumps(sent)).result() == expected(1)
    held, _ = writer.communicate(b"\n")
    assert writer.returncode == -signal.SIGKILL
    assert json.loads(held) == [], "nothing was there that could stay behind"
    found = readers.submit(read, name, pickle.dumps(sent)).result()
    if name == "files":
        assert found == expected(1), "what was finished stays"
        finished, part = sorted((tmp_path / "run-1").iterdir(), key=lambda one: one.name, reverse=True)
        assert part.name.startswith(".2-") and part.name.endswith(".part") and finished.name.startswith("1-")
        fresh = Files(str(tmp_path), "run-1")
        fresh.pack(3, layers(3))
        assert [one.name[:2] for one in (tmp_path / "run-1").iterdir()] == ["3-"]
        fresh.clean(Topology(location=str(tmp_path), folder="run-1"))
        assert list(tmp_path.iterdir()) == []
    else:
        assert isinstance(found, str)
        words = {"shared_memory": "it has ended or freed them", "distributed": "could not be fetched from"}
        assert words[name] in found


# ── shared memory ──


def test_a_segment_can_be_changed_by_nobody(tmp_path: Path) -> None:
    segment = MemorySegment(layers(1))
    opened = os.open(f"/proc/self/fd/{segment.name.descriptor}", os.O_RDWR)
    with pytest.raises(PermissionError):
        os.ftruncate(opened, 64)
    with pytest.raises(PermissionError):
        os.pwrite(opened, b"x", 100)
    os.close(opened)
    assert fingerprint(open_segment(segment.name)) == expected(1)
    segment.close()


def test_what_is_no_finished_segment_is_refused() -> None:
    segment = MemorySegment(layers(1))
    name = segment.name
    with pytest.raises(RuntimeError, match="on another host"):
        open_segment(replace(name, host="elsewhere"))
    with pytest.raises(RuntimeError, match="the segment is a different one, or is unfinished"):
        open_segment(replace(name, key=bytes(16)))
    with pytest.raises(RuntimeError, match=rf"the segment has {name.size} bytes, not {name.size + 1}"):
        open_segment(replace(name, size=name.size + 1))
    pipe = os.pipe()
    with pytest.raises(RuntimeError, match="belongs to another file"):
        open_segment(replace(name, descriptor=pipe[0]))
    unsealed = os.memfd_create("test", os.MFD_ALLOW_SEALING)
    os.pwrite(unsealed, MAGIC + name.key, 0)
    with pytest.raises(RuntimeError, match="not sealed"):
        open_segment(replace(name, descriptor=unsealed))
    os.ftruncate(unsealed, name.size)
    fcntl.fcntl(unsealed, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
    with pytest.raises(RuntimeError, match="not sealed"):
        open_segment(replace(name, descriptor=unsealed))
    for descriptor in (*pipe, unsealed):
        os.close(descriptor)
    segment.close()
    # Another thread of this process may have opened something under its number since.
    with pytest.raises(RuntimeError, match=r"are no longer in the shared memory of process|belongs to another file"):
        open_segment(name)


def segments_of_this_process() -> set[str]:
    """Open segments by descriptor and name. Other threads open and close files of other kinds meanwhile."""
    found = set()
    for descriptor in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            found.add(f"{descriptor} {os.readlink(f'/proc/self/fd/{descriptor}')}")
    return {one for one in found if "memfd:dressage-weights" in one}


def test_a_segment_that_fails_half_way_holds_no_descriptor() -> None:
    def failing() -> Iterator[dict[str, torch.Tensor]]:
        yield layers(1)[0]
        raise ValueError("the learner")

    before = segments_of_this_process()
    held = SharedMemory()
    held.pack(1, iter(layers(1)))
    assert len(segments_of_this_process() - before) == 1
    held.close()
    with pytest.raises(ValueError, match="the learner"):
        SharedMemory().pack(1, failing())
    assert segments_of_this_process() <= before


@pytest.mark.expensive(5, "starts a learner", about=TRAINING)
@pytest.mark.usefixtures("cluster")
def test_an_engine_on_a_host_that_has_joined_reads_through_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    sender = SharedMemory()
    sent = sender.pack(1, layers(1))
    monkeypatch.setattr("worker.learner.transport.shared_memory.this_host", lambda: "another")
    assert fingerprint(SharedMemory().unpack(sent)) == expected(1)
    sender.close()
    with pytest.raises(RuntimeError, match=f"cannot be fetched from the node {sent.node}: .*no longer in the shared"):
        SharedMemory().unpack(sent)


# ── files ──


def spoil(folder: Path, way: str) -> None:
    file = folder / "00001.safetensors"
    content = bytearray(file.read_bytes())
    match way:
        case "cut":
            file.write_bytes(content[:-1])
        case "bit":
            content[-1] ^= 1
            file.write_bytes(content)
        case "missing":
            file.unlink()
        case "manifest":
            manifest = json.loads((folder / "manifest.json").read_text())
            manifest["files"].pop()
            (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("cut", r"are incomplete: 00001.safetensors has \d+ bytes, not \d+"),
        ("bit", "differ from those sent: 00001.safetensors differs"),
        ("missing", "00001.safetensors does not exist"),
        ("manifest", "differ from those sent: their manifest is different"),
    ],
)
def test_files_that_are_not_what_was_sent_are_refused(way: str, words: str, tmp_path: Path) -> None:
    sender = Files(str(tmp_path), "run-1")
    sent = sender.pack(1, layers(1))
    folder = tmp_path / "run-1" / sent.version
    assert {one.stat().st_mode & 0o777 for one in (folder, folder.parent)} == {0o700}
    assert {one.stat().st_mode & 0o777 for one in folder.iterdir()} == {0o600}
    spoil(folder, way)
    with pytest.raises(RuntimeError, match=words):
        Files().unpack(sent)


def test_what_cannot_be_removed_at_the_end_fails_no_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "run-1").symlink_to(tmp_path)
    chosen = Travel("files", Topology(location=str(tmp_path), folder="run-1"))
    choose(chosen).clean(chosen)
    assert "weights of run-1 were not removed" in caplog.text


def test_a_folder_that_others_may_write_takes_no_weights(tmp_path: Path) -> None:
    (tmp_path / "run-1").mkdir()
    (tmp_path / "run-1").chmod(0o777)
    sender = Files(str(tmp_path), "run-1")
    sender.pack(1, layers(1))  # what was there was removed, and made anew
    (tmp_path / "run-1").chmod(0o777)
    with pytest.raises(RuntimeError, match="is not a private folder of this user"):
        sender.pack(2, layers(2))
    (tmp_path / "run-2").symlink_to(tmp_path)
    with pytest.raises(RuntimeError, match="is a link, which runs never create"):
        Files(str(tmp_path), "run-2").pack(1, layers(1))


# ── torch.distributed ──


def test_what_came_over_the_network_is_proved_by_its_digest() -> None:
    sender = Distributed()
    sent = sender.pack(1, layers(1))
    with pytest.raises(RuntimeError, match="differ from those sent"):
        Distributed().unpack(replace(sent, digest=bytes(32)))
    assert fingerprint(Distributed().unpack(sent)) == expected(1)
    sender.close()


DYING = """
import os, pickle, signal, sys
from worker.learner.transport import TRANSPORTS, groups

groups.BUCKET = 1 << 16
move = groups.SenderGroup._move
def third(self, part):
    third.count += 1
    if third.count == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    move(self, part)
third.count = 0
groups.SenderGroup._move = third
TRANSPORTS["distributed"].unpack(pickle.load(sys.stdin.buffer))
"""


@pytest.mark.expensive(4, "starts a learner", about=TRAINING)
def test_an_engine_that_dies_while_it_receives_takes_no_other_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.learner.transport.groups.BUCKET", 1 << 16)
    monkeypatch.setattr("worker.learner.transport.sending.GATHER_S", 30.0)
    sender = Distributed(engines=2)
    sent = sender.pack(1, layers(1, rows=8192))
    dying = process(DYING)
    assert dying.stdin is not None
    pickle.dump(sent, dying.stdin)
    dying.stdin.close()
    receiver = Distributed()
    monkeypatch.setattr("worker.learner.transport.sending.LOOK_S", 0.1)
    asked = receiver._receive

    def once_broken(*arguments: Any) -> None:
        try:
            asked(*arguments)
        except RuntimeError:
            monkeypatch.setattr("worker.learner.transport.sending.GATHER_S", 0.0)
            raise

    monkeypatch.setattr(receiver, "_receive", once_broken)
    assert fingerprint(receiver.unpack(sent)) == expected(1, rows=8192)
    assert dying.wait(60) == -signal.SIGKILL
    sender.close()


# ── CUDA's handles ──


class HostMemory:
    """The memory of a device that there is not: the host's, shared by the number of a descriptor."""

    def __init__(self) -> None:
        self.allocated: dict[int, torch.Tensor] = {}
        self.opened: list[int] = []
        self.settled = 0

    def device(self) -> str:
        return "GPU-0"

    def allocate(self, size: int) -> int:
        memory = torch.zeros(size, dtype=torch.uint8)
        self.allocated[memory.data_ptr()] = memory
        return memory.data_ptr()

    def free(self, address: int) -> None:
        del self.allocated[address]

    def export(self, address: int) -> bytes:
        return address.to_bytes(64, "little")

    def open(self, handle: bytes) -> int:
        address = int.from_bytes(handle, "little")
        if address not in self.allocated:
            raise RuntimeError("cudaIpcOpenMemHandle answers 400 (invalid resource handle)")
        self.opened.append(address)
        return address

    def shut(self, address: int) -> None:
        assert self.settled, "copies may still read it"
        self.opened.remove(address)

    def view(self, address: int, size: int) -> torch.Tensor:
        return self.allocated[address][:size]

    def settle(self) -> None:
        self.settled += 1


def test_handles_of_device_memory_reach_every_type_and_are_shut() -> None:
    memory = HostMemory()
    sender, receiver = CudaIpc(lambda: memory), CudaIpc(lambda: memory)
    first, second = (sender.pack(version, layers(version)) for version in (1, 2))
    assert memory.settled == 2
    memory.settled = 0
    found = receiver.unpack(pickle.loads(pickle.dumps(first)))
    assert fingerprint(found) == expected(1) == fingerprint(sender.unpack(first))
    assert len(memory.opened) == 3
    del found
    assert memory.opened == [] and memory.settled == 1
    sender.keep([second])
    with pytest.raises(RuntimeError, match="invalid resource handle"):
        receiver.unpack(first)
    with pytest.raises(RuntimeError, match="in the memory of GPU GPU-1 and this process has GPU-0"):
        receiver.unpack(replace(second, device="GPU-1"))
    sender.close()
    assert memory.allocated == {}


# ── the choice ──


def test_a_run_takes_shared_memory_on_one_host_and_rays_store_on_several() -> None:
    assert choose(Travel("auto", Topology())) == ChosenTransport(
        "shared_memory", "all models of the run are on one host"
    )
    why = "the run's models may be on 3 hosts, which share no memory"
    assert choose(Travel("auto", Topology(hosts=3))) == ChosenTransport("object_store", why)
    assert choose(Travel("distributed", Topology(hosts=3))) == ChosenTransport("distributed", "the run's spec names it")


GPUS = Topology(hosts=4, engines=3, device="cuda", gpus=1.0, cards=8)
"""Four hosts of two cards, of which every model has one to itself."""
BROADCAST = "the run's models may be on 4 hosts with a GPU each, between which NCCL broadcasts"
ON_FOUR = "the run's models may be on 4 hosts, which share no memory"


@pytest.mark.parametrize(
    ("topology", "nccl", "chosen", "why"),
    [
        (GPUS, True, "distributed", BROADCAST),
        (replace(GPUS, hosts=1), True, "shared_memory", "all models of the run are on one host"),
        (GPUS, False, "object_store", f"{ON_FOUR}, and not by NCCL: the installed torch has no nccl"),
        (replace(GPUS, gpus=0.5), True, "object_store", ON_FOUR),
        (replace(GPUS, device="cpu", gpus=0.0, cards=0), True, "object_store", ON_FOUR),
        (replace(GPUS, location="s3://weights/here"), True, "distributed", None),
    ],
    ids=["a card each", "one host", "no NCCL", "shared cards", "CPUs", "a place for files"],
)
def test_a_run_left_to_itself_takes_nccl_between_hosts_of_cards(
    topology: Topology, nccl: bool, chosen: str, why: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.distributed, "is_nccl_available", lambda: nccl)
    found = choose(Travel("auto", topology))
    assert found.name == chosen
    assert why is None or found.why == why
    assert TRANSPORTS[found.name].refusal(topology) is None


def test_nccl_is_not_taken_where_ray_encrypts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.distributed, "is_nccl_available", lambda: True)
    found = choose(Travel("auto", replace(GPUS, encrypted=True)))
    assert found.name == "object_store"
    assert found.why.startswith(f"{ON_FOUR}, and not by NCCL: torch.distributed does not encrypt its traffic")


@pytest.mark.parametrize(
    ("asked", "topology", "words"),
    [
        ("shared_memory", Topology(hosts=2), "may be on 2 hosts, which share no memory"),
        ("distributed", Topology(hosts=2, encrypted=True), r"Ray does \(RAY_USE_TLS\)"),
        ("files", Topology(), r"configured no folder or bucket for weights \(DRESSAGE_WEIGHTS_LOCATION\)"),
        (
            "files",
            Topology(location="/nowhere/at/all", folder="run-1"),
            "the folder /nowhere/at/all does not exist on this host",
        ),
        ("files", Topology(location="s3://"), "is not the address of a folder in a bucket"),
        ("cuda_ipc", Topology(), "the run's models are on CPUs"),
        ("cuda_ipc", Topology(device="cuda", cards=4, gpus=0.5), "there are 4 GPUs"),
        ("cuda_ipc", Topology(hosts=2, device="cuda", cards=1), "2 hosts, which share no GPU"),
    ],
)
def test_what_cannot_be_is_refused_in_words(asked: str, topology: Topology, words: str) -> None:
    with pytest.raises(StartError, match=rf"Weights cannot be sent by {asked} \(rollout.weight_transport\).*{words}"):
        choose(Travel(asked, topology))


def test_the_spec_can_name_every_transport() -> None:
    from trainer_core.spec.generation.rollout import Rollout

    names = Rollout.model_json_schema()["properties"]["weight_transport"]["enum"]
    assert sorted(names) == sorted(["auto", *TRANSPORTS])
