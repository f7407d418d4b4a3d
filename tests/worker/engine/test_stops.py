"""Completions end where a stop string is complete, wherever tokens cut it, and nowhere else."""

from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.tokenizers import byte_level, sentence_piece, write_folder
from tests.worker.engine.conftest import Collect
from worker.engine import InferenceEngine, Request, Sampling
from worker.engine.request.stops import StopSets, StopStrings
from worker.engine.types import EngineError

STRINGS = ("\n\n", "</answer>", "dog.", "é!", "x")
KINDS = {"byte_level": byte_level(), "sentence_piece": sentence_piece()}


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def stops(kind: str, tmp_path_factory: pytest.TempPathFactory) -> StopStrings:
    tokenizer = KINDS[kind]
    folder = write_folder(tmp_path_factory.mktemp(kind), tokenizer)
    found = StopSets(str(folder), STRINGS).of(())
    assert found is not None
    return found


def first_end(stops: StopStrings, tokens: list[int]) -> int | None:
    """Number of tokens after which the completion ends, as the engine asks token by token."""
    ends = (n for n in range(1, len(tokens) + 1) if stops.candidates[tokens[n - 1]] and stops.ends(tokens[:n]))
    return next(ends, None)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_completion_ends_with_the_token_that_completes_a_stop_string(
    stops: StopStrings, kind: str, data: st.DataObject
) -> None:
    tokenizer = KINDS[kind]
    words = st.sampled_from([*STRINGS, "dog", ".", "\n", "the ", "</answer", ">", "é", "!", "quick", "x"])
    pieces = data.draw(st.lists(words, max_size=6))
    tokens = [token for piece in pieces for token in tokenizer.encode(piece, add_special_tokens=False).ids]
    texts = [tokenizer.decode(tokens[:n], skip_special_tokens=False) for n in range(len(tokens) + 1)]
    expected = next((n for n, text in enumerate(texts) if any(string in text for string in STRINGS)), None)
    assert first_end(stops, tokens) == expected


def test_text_that_the_engine_wrote_itself_stops_nothing(stops: StopStrings, kind: str) -> None:
    """Whatever its first token is, such as a part of a character."""
    tokenizer = KINDS[kind]
    written = tokenizer.encode("x</answer>\n\n", add_special_tokens=False).ids
    for text in ("é", "quick", "dog"):
        token = tokenizer.encode(text, add_special_tokens=False).ids[0]
        assert not stops.ends([*written, token])


def test_few_tokens_are_looked_at(stops: StopStrings, kind: str) -> None:
    size = KINDS[kind].get_vocab_size()
    assert 0 < sum(stops.candidates[token] for token in range(size)) < size // 2


def test_a_folder_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"tokenizer\.json is missing"):
        StopSets(str(tmp_path), ("x",))
    needed_later = StopSets(str(tmp_path), ())
    assert needed_later.of(()) is None
    with pytest.raises(EngineError, match=r"tokenizer\.json is missing"):
        needed_later.of(("x",))


def test_a_request_has_its_own_beside_those_of_the_engine(tmp_path: Path) -> None:
    tokenizer = KINDS["byte_level"]
    sets = StopSets(str(write_folder(tmp_path, tokenizer)), ("\n\n",))

    def end(text: str, *strings: str) -> int | None:
        stops = sets.of(strings)
        assert stops is not None
        tokens = tokenizer.encode(text, add_special_tokens=False).ids
        found = first_end(stops, tokens)
        return None if found is None else len(tokenizer.decode(tokens[:found], skip_special_tokens=False))

    assert end("the dog.\n\n") == len("the dog.\n\n")
    assert end("the dog.\n\n", "dog.") == len("the dog.")
    assert end("the dog.", "fox") is None
    assert sets.of(("dog.",)) is sets.of(("dog.",)), "each set is prepared once"


def test_the_engine_stops_there(engine: InferenceEngine, collect: Collect, monkeypatch: pytest.MonkeyPatch) -> None:
    sampling = Sampling(temperature=0.0, max_tokens=24)
    engine.submit(Request("free", (5, 6, 7), sampling))
    free = collect()["free"]

    class Third:
        """Stops at the third token that the policy chooses."""

        candidates = defaultdict(bool, {free.token_ids[2]: True})

        def ends(self, token_ids: list[int]) -> bool:
            return token_ids == free.token_ids[:3]

    class Sets:
        """Only requests with a stop string stop there."""

        def of(self, strings: tuple[str, ...]) -> Third | None:
            return Third() if strings else None

    monkeypatch.setattr(engine, "_stops", Sets())
    stopping = {"temperature": 0.0, "stop_strings": ("third",)}
    engine.submit(Request("stopped", (5, 6, 7), Sampling(**stopping, max_tokens=24)))
    engine.submit(Request("going on", (5, 6, 7), sampling))
    engine.submit(Request("last", (5, 6, 7), Sampling(**stopping, max_tokens=3)))
    engine.submit(Request("shorter", (5, 6, 7), Sampling(**stopping, max_tokens=2)))
    found = collect()
    assert found["going on"].token_ids == free.token_ids
    assert found["stopped"].token_ids == found["last"].token_ids == free.token_ids[:3]
    assert found["stopped"].finish_reason == found["last"].finish_reason == "stop"
    assert (found["shorter"].finish_reason, len(found["shorter"].token_ids)) == ("length", 2)
    assert not engine.has_unfinished
