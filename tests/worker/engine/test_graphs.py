"""CUDA graphs: what vLLM is asked for, by its own classes, and weights that stay where a recording reads them."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
import torch
from torch import nn
from transformers import Qwen3ForCausalLM

from tests.worker.engine.policies import perturbed, state
from trainer_core.spec.generation.rollout import Engine
from worker.engine import EngineConfig, EngineError, InferenceEngine, Request, Sampling
from worker.engine.graphs import RecordedMemory, recording


def assert_samples_by_its_weights(engine: InferenceEngine, tolerance: float) -> None:
    """Log-probabilities of decoded tokens are those of the same tokens read as a prompt, which no recording takes."""
    for number in range(4):
        prompt = tuple(range(2 + number, 12 + number))
        engine.submit(Request(f"own-{number}", prompt, Sampling(temperature=1.0, max_tokens=24)))
    done = []
    while engine.has_unfinished:
        done += engine.step()
    assert len(done) == 4
    for completion in done:
        told = engine.score([[*completion.prompt_ids, *completion.token_ids]])[0][len(completion.prompt_ids) - 1 :]
        assert completion.logprobs == pytest.approx(told, abs=tolerance)


def test_what_is_decoded_is_what_the_weights_say(
    engine: InferenceEngine, tied_policy: tuple[Path, Qwen3ForCausalLM]
) -> None:
    assert_samples_by_its_weights(engine, tolerance=1e-4)
    engine.load_weights(1, state(perturbed(tied_policy[1])))
    assert_samples_by_its_weights(engine, tolerance=1e-4)


@pytest.mark.parametrize(
    ("config", "on_cpu"),
    [
        (EngineConfig("policy"), True),
        (EngineConfig("policy", cuda_graphs=False), False),
        (EngineConfig("policy", routes=True), False),
    ],
    ids=["a CPU", "not wanted", "routes"],
)
def test_steps_are_not_recorded(config: EngineConfig, on_cpu: bool) -> None:
    assert recording(config, on_cpu=on_cpu) == {"enforce_eager": True}


def test_a_gpu_records_by_default_and_vllm_knows_the_arguments() -> None:
    from vllm.config.compilation import CompilationMode, CUDAGraphMode
    from vllm.engine.arg_utils import EngineArgs

    assert Engine().cuda_graphs and EngineConfig("policy").cuda_graphs
    asked = recording(EngineConfig("policy"), on_cpu=False)
    assert asked.keys() <= {field.name for field in fields(EngineArgs)}
    args = EngineArgs(model="policy", **asked)
    assert args.enforce_eager is False
    compilation = args.compilation_config
    assert compilation.mode == CompilationMode.NONE
    assert compilation.cudagraph_mode == CUDAGraphMode.FULL_DECODE_ONLY
    assert not compilation.cudagraph_mode.requires_piecewise_compilation(), "nothing has to be compiled"


@pytest.mark.parametrize(
    ("support", "expected"),
    [
        ("ALWAYS", "FULL_DECODE_ONLY"),
        ("UNIFORM_SINGLE_TOKEN_DECODE", "FULL_DECODE_ONLY"),
        ("NEVER", "NONE"),
    ],
)
def test_vllm_records_where_its_attention_can_be_and_else_goes_on(support: str, expected: str) -> None:
    from vllm.v1.attention.backend import AttentionCGSupport

    compilation = recording(EngineConfig("policy"), on_cpu=False)["compilation_config"]
    assert compilation.resolve_cudagraph_mode_and_sizes(AttentionCGSupport[support], "attention").name == expected


class Layer(nn.Module):
    """A layer that packs its weight anew, with what vLLM's layers keep beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(2, 3), requires_grad=False)
        self.register_buffer("scale", torch.zeros(2))
        self.derived = torch.zeros(3, 2)

    def pack(self, value: float) -> None:
        self.weight = nn.Parameter(torch.full((2, 3), value), requires_grad=False)
        self._buffers["scale"] = torch.full((2,), value)
        self.derived = self.weight.T


def test_packed_weights_come_to_where_the_recording_reads_them() -> None:
    model = nn.ModuleDict({"one": Layer(), "two": Layer()})
    layer = model["one"]
    assert isinstance(layer, Layer)
    recorded = (layer.weight, layer.scale, layer.derived)
    memory = RecordedMemory(model)
    for version in (1.0, 2.0):
        layer.pack(version)
        memory.restore()
        assert [one.unique().tolist() for one in recorded] == [[version]] * 3
        assert (layer.weight, layer.scale, layer.derived) == recorded, "the layer holds these again"
    assert model["two"].weight.unique().tolist() == [0.0]
    layer.weight.fill_(3.0)
    memory.restore()
    assert layer.weight.unique().tolist() == [3.0], "what is written in place is there already"


def test_a_recording_that_cannot_be_used_any_more_is_refused() -> None:
    model = nn.ModuleDict({"one": Layer()})
    layer, memory = model["one"], RecordedMemory(model)
    assert isinstance(layer, Layer)
    layer.derived = torch.zeros(4, 2)
    with pytest.raises(
        EngineError, match=r"one\.derived is no longer the tensor .* set rollout\.engine\.cuda_graphs = false"
    ):
        memory.restore()
    del layer.derived
    with pytest.raises(EngineError, match=r"one\.derived is no longer the tensor"):
        memory.restore()
