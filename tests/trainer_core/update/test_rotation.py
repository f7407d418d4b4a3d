"""Which policies' rotation is replaced on cards, and that nothing else is called otherwise."""

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, Gemma3TextConfig, GPTNeoXConfig, LlamaConfig, Qwen3Config

from trainer_core.update.model import rotation
from trainer_core.update.model.rotation import NAME, use_fused_rotation

SIZES: dict[str, Any] = {
    "vocab_size": 32,
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 8,
}


@pytest.fixture
def untouched() -> Iterator[None]:
    """Every module has its own rotation, before and afterwards: other tests load policies too."""
    _give_back()
    yield
    _give_back()


def _give_back() -> None:
    for home in list(sys.modules.values()):
        # Lazy modules would be imported by being asked.
        own = getattr(vars(home).get(NAME), "replaced", None) if isinstance(home, ModuleType) else None
        if own is not None:
            setattr(home, NAME, own)


def policy(config: Any) -> tuple[nn.Module, ModuleType]:
    model = AutoModelForCausalLM.from_config(config)
    return model, sys.modules[type(model).__module__]


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("kind", [LlamaConfig, Qwen3Config, Gemma3TextConfig])
def test_it_is_replaced_once(kind: type[Any]) -> None:
    model, home = policy(kind(**SIZES))
    own = getattr(home, NAME)
    assert use_fused_rotation(model) == 1
    replaced = getattr(home, NAME)
    assert replaced.replaced is own
    assert use_fused_rotation(model) == 1
    assert getattr(home, NAME) is replaced


@pytest.mark.usefixtures("untouched")
def test_one_that_turns_a_part_of_each_head_gives_the_same_as_before() -> None:
    sizes = {name: SIZES[name] for name in SIZES if name not in ("num_key_value_heads", "head_dim")}
    model, _ = policy(GPTNeoXConfig(**sizes))
    ids = torch.arange(6)[None]
    before = model(ids).logits
    use_fused_rotation(model)
    assert torch.equal(model(ids).logits, before)


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("fits", [False, True])
def test_the_modules_own_is_called_where_the_kernel_does_not_fit(monkeypatch: pytest.MonkeyPatch, fits: bool) -> None:
    model, home = policy(Qwen3Config(**SIZES))
    model.bfloat16()
    ids = torch.arange(6)[None]
    before = model(ids).logits
    calls: list[str] = []
    own = getattr(home, NAME)

    def counted(*arguments: Tensor, **others: Any) -> Any:
        calls.append("own")
        return own(*arguments, **others)

    monkeypatch.setattr(home, NAME, counted)
    use_fused_rotation(model)
    calls.clear()
    monkeypatch.setattr(rotation, "_fits", lambda *_: fits)
    assert torch.equal(model(ids).logits, before)
    assert calls == ([] if fits else ["own"])


@pytest.mark.usefixtures("untouched")
def test_another_function_of_that_name_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    home = ModuleType("with_a_rotation_of_its_own")
    for own in (lambda q, k: (q, k), lambda q, k, cos, sin: q, lambda q, k, cos, sin: (q * cos, k * cos)):
        setattr(home, NAME, own)
        layer = type("Layer", (nn.Module,), {"__module__": home.__name__})()
        monkeypatch.setitem(sys.modules, home.__name__, home)
        assert use_fused_rotation(layer) == 0
        assert getattr(home, NAME) is own
