"""Writes trainer_core/support/known_classes.py: model classes that the learner's and the engine's library can load.

The web tier loads neither library, so the list is checked in. A test compares it with the installed versions: run this
after either of them has changed.
"""

import sys
from collections.abc import Iterable
from pathlib import Path
from textwrap import fill

OUT = Path(__file__).resolve().parents[1] / "trainer_core" / "support" / "known_classes.py"
HEADER = '''"""Model classes that the libraries know. Written by ``python -m scripts.write_known_classes``."""

LIBRARIES = ("transformers {transformers}", "vLLM {vllm}")
"""Libraries of learner and engine, as they were asked."""
'''
LIST = '''{name} = frozenset(
    """
{names}
    """.split()  # noqa: SIM905 - a name a line would fill pages
)
"""{meaning}"""
'''
INDENT = " " * 4
LISTS = {
    "IN_BOTH": "Classes that transformers and vLLM can load, be it by transformers' own code.",
    "LEARNER_ONLY": "Classes of language models that transformers knows and vLLM cannot load.",
    "ENGINE_ONLY": "Classes of language models that vLLM knows and transformers does not.",
    "MODEL_TYPES": "Values of ``model_type`` of language models that transformers knows.",
}


def main() -> int:
    """Write the list; with ``--check``, only tell whether it is up to date."""
    text = module()
    if "--check" in sys.argv:
        return int(not OUT.exists() or OUT.read_text() != text)
    OUT.write_text(text)
    return 0


def module() -> str:
    """The whole module."""
    import transformers
    import vllm

    parts = [HEADER.format(transformers=transformers.__version__, vllm=vllm.__version__.partition("+")[0])]
    parts += [_list(name, LISTS[name], found) for name, found in known().items()]
    return "".join(parts)


def known() -> dict[str, set[str]]:
    """Names of each of `LISTS`, as the installed libraries have them."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    from vllm.model_executor.models import registry

    from worker.engine.models import HYBRID

    types: dict[str, list[str]] = {}
    for model_type, names in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.items():
        for name in (names,) if isinstance(names, str) else names:
            types.setdefault(name, []).append(model_type)
    own = {*registry._TEXT_GENERATION_MODELS, *registry._TRANSFORMERS_SUPPORTED_MODELS, HYBRID}
    in_both = {name for name, kinds in types.items() if name in own or _runs_by_transformers(name, kinds)}
    return {
        "IN_BOTH": in_both,
        "LEARNER_ONLY": set(types) - in_both,
        "ENGINE_ONLY": own - set(types),
        "MODEL_TYPES": set(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES),
    }


def _runs_by_transformers(name: str, model_types: Iterable[str]) -> bool:
    """Whether vLLM computes a class that it does not know by transformers' own code, and the class is a decoder."""
    import transformers
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    model = getattr(transformers, name)
    if not (model.is_backend_compatible() or model._can_set_attn_implementation()):
        return False
    configs = [CONFIG_MAPPING[model_type] for model_type in model_types]
    return not any(
        getattr(config, "is_decoder", None) is False or getattr(config, "is_encoder_decoder", False)
        for config in configs
    )


def _list(name: str, meaning: str, members: set[str]) -> str:
    names = fill(
        " ".join(sorted(members)), 120, initial_indent=INDENT, subsequent_indent=INDENT, break_on_hyphens=False
    )
    return LIST.format(name=name, names=names, meaning=meaning)


if __name__ == "__main__":
    sys.exit(main())
