"""Examples have the tokens that the engine would have produced, and only the policy's own teach."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tokenizers import CHATML, byte_level, sentence_piece, write_folder
from trainer_core.episodes import Trajectory
from trainer_core.prompting.examples import Account, Encoded
from trainer_core.spec.data.prompt_format import PLAIN, PromptFormat
from trainer_core.spec.objective import Preference, Supervised
from worker.engine.tokenizer import PolicyTokenizer
from worker.errors import StartError
from worker.loop.examples.encoder import ExampleEncoder

CONTINUES = "{% for m in messages %}{{ m['content'] }}\n{% endfor %}"
OPENS = CHATML.replace("assistant\n{% endif", "assistant\n<think>\n{% endif")
SHUTS = CHATML.replace("assistant\n{% endif", "assistant\n<think>\n\n</think>\n\n{% endif")
FORGETS = CHATML.replace(
    "m['content']", "(m['content'].split('</think>')[-1] if m['role'] == 'assistant' else m['content'])"
)
TRIMS = CHATML.replace("m['content']", "m['content'] | trim")
TOOLS = "{% if tools %}{{ tools | tojson }}{% endif %}" + CHATML
END = "<|im_end|>"


def policy(folder: Path, template: str | None = CHATML, eos: str = END) -> PolicyTokenizer:
    tokenizer = byte_level()
    write_folder(folder, tokenizer, template)
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": tokenizer.token_to_id(eos)}))
    return PolicyTokenizer(folder)


@pytest.fixture(scope="module")
def chatml(tmp_path_factory: pytest.TempPathFactory) -> PolicyTokenizer:
    return policy(tmp_path_factory.mktemp("chatml"))


def chat(*texts: str, system: str | None = None) -> list[dict[str, str]]:
    first = [{"role": "system", "content": system}] if system else []
    return first + [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts)]


def encoded(
    tokenizer: PolicyTokenizer, rows: list[dict[str, Any]], form: PromptFormat = PLAIN, **fields: Any
) -> Encoded:
    return ExampleEncoder(tokenizer, Supervised(**fields)).encode(rows, form)


def taught(tokenizer: PolicyTokenizer, one: Trajectory) -> str:
    return tokenizer.text(one.token_ids[one.sampled].tolist())


def ids(one: Trajectory) -> list[int]:
    return [*one.prompt_ids.tolist(), *one.token_ids.tolist()]


TEXT = st.text(max_size=30).filter(lambda text: text.strip())


@given(question=TEXT, answer=TEXT, plain=st.booleans())
def test_what_teaches_is_the_completion_with_its_end(
    chatml: PolicyTokenizer, question: str, answer: str, plain: bool
) -> None:
    row: dict[str, Any] = {"prompt": question} if plain else {"messages": chat(question)}
    result = encoded(chatml, [{**row, "completion": answer}])
    if not result.examples[0]:
        return
    [[one]] = result.examples
    assert one.prompt_ids.tolist() == chatml.encode_rows([row])[0].tolist()
    assert taught(chatml, one) == answer + END and one.sampled.all()
    assert (one.trajectory_id, one.finish_reason, one.temperature) == ("0", "stop", 1.0)
    assert not one.behaviour_logprobs.any() and not one.versions.any()
    assert result.account == Account(rows=1, examples=1, longest=len(ids(one)), tokens=len(ids(one)), taught=one.length)


@given(texts=st.lists(TEXT, min_size=2, max_size=6))
def test_a_chat_has_the_tokens_that_the_engine_sees_turn_by_turn(chatml: PolicyTokenizer, texts: list[str]) -> None:
    texts = texts[: len(texts) // 2 * 2]
    *messages, last = chat(*texts, system="Be brief.")
    row = {"messages": messages, "completion": last["content"]}
    try:
        [[one]] = encoded(chatml, [row], max_tokens=10_000).examples
    except StartError as refused:
        assert "empty completion" in str(refused)
        return
    end = chatml.eos[0]
    expected = chatml.encode_rows([{"messages": messages[:2]}])[0].tolist()
    said = [False] * len(expected)
    for place in range(2, len(messages), 2):
        own = [*chatml.encode_texts([messages[place]["content"]], sealed=False, special=False)[0], end]
        answers = list(chatml.encode_answers({"messages": messages[:2]}, PLAIN, [messages[place + 1]]))
        expected += own + answers[1:]
        said += [True] * len(own) + [False] * (len(answers) - 1)
    own = [*chatml.encode_texts([last["content"]], sealed=False, special=False)[0], end]
    assert ids(one) == expected + own
    if all(message["content"].strip() for message in messages):
        assert [*([False] * len(one.prompt_ids)), *one.sampled.tolist()] == said + [True] * len(own)


def test_which_turns_teach(chatml: PolicyTokenizer) -> None:
    row = {"messages": chat("dog", "fox", "lazy"), "completion": "jumps"}
    whole = chatml.prompt_text(row) + "jumps" + END
    expected = {"completion": f"jumps{END}", "assistant": f"fox{END}jumps{END}", "all": whole[len("<|im_start|>") :]}
    for learn, text in expected.items():
        [[one]] = encoded(chatml, [row], learn=learn).examples
        assert taught(chatml, one) == text, learn
        assert chatml.text(ids(one)) == whole
    [[one]] = encoded(chatml, [row], learn="completion").examples
    assert one.prompt_ids.tolist() == chatml.encode_rows([row])[0].tolist()


def test_plain_text_is_learned_whole_and_ends(tmp_path: Path) -> None:
    folder = tmp_path / "pieces"
    write_folder(folder, sentence_piece())
    (folder / "config.json").write_text('{"eos_token_id": [2, 1]}')
    tokenizer = PolicyTokenizer(folder)
    [[text], [both]] = encoded(
        tokenizer, [{"prompt": "the fox"}, {"prompt": "the fox", "completion": "jumps"}], learn="all"
    ).examples
    prompt = tokenizer.encode_rows([{"prompt": "the fox"}])[0].tolist()
    assert ids(text) == [*prompt, 2] and len(text.prompt_ids) == 1 and text.sampled.all()
    assert ids(both)[: len(prompt)] == prompt and ids(both)[-1] == 2 and both.sampled.all()


@pytest.mark.parametrize(("learn", "row"), [("completion", {"prompt": "dog"}), ("all", {"messages": chat("dog")})])
def test_only_plain_text_needs_no_completion(chatml: PolicyTokenizer, learn: str, row: dict[str, Any]) -> None:
    with pytest.raises(StartError, match=r"Row 0 cannot be learned\. It has no `completion`"):
        encoded(chatml, [row], learn=learn)


def test_a_template_without_an_end_of_turn_gets_the_policys_own(tmp_path: Path) -> None:
    tokenizer = policy(tmp_path / "continues", CONTINUES)
    [[one]] = encoded(tokenizer, [{"messages": chat("dog", "fox", "lazy"), "completion": "jumps"}]).examples
    assert tokenizer.text(ids(one)) == f"dog\nfox\nlazy\njumps{END}"
    assert taught(tokenizer, one) == f"foxjumps{END}"
    # The template ends its turns with a token at which the engine does not stop.
    tokenizer = policy(tmp_path / "other", eos="<|endoftext|>")
    [[one]] = encoded(tokenizer, [{"messages": chat("dog", "fox", "lazy"), "completion": "jumps"}]).examples
    assert taught(tokenizer, one) == f"fox{END}jumps{END}<|endoftext|>"


def test_a_policy_without_an_end_is_reported(tmp_path: Path) -> None:
    tokenizer = PolicyTokenizer(write_folder(tmp_path, byte_level()))
    result = encoded(tokenizer, [{"prompt": "dog", "completion": "fox"}])
    assert taught(tokenizer, result.examples[0][0]) == "fox"
    assert result.account.sentences() == [
        "1 of 1 rows end without an end-of-sequence token, since the policy's files name none; row 0 is the first."
    ]


def test_thinking_that_the_prompt_opens_or_shuts(tmp_path: Path) -> None:
    row = {"messages": chat("dog"), "completion": "<think>\nfox\n</think>\n\nlazy"}
    opens = policy(tmp_path / "opens", OPENS)
    result = encoded(opens, [row, {**row, "completion": "lazy"}])
    [[one], [_]] = result.examples
    assert opens.text(ids(one)) == f"{opens.prompt_text(row)}fox\n</think>\n\nlazy{END}"
    assert {kind: (noted.rows, noted.first) for kind, noted in result.account.warnings.items()} == {
        "reopened": (1, 0),
        "unclosed": (1, 1),
    }
    two = ExampleEncoder(opens, Preference()).encode([{"messages": chat("dog"), "chosen": "fox", "rejected": "lazy"}])
    assert two.account.warnings["unclosed"].rows == 1, "a pair is one row"
    shuts = policy(tmp_path / "shuts", SHUTS)
    [[one]] = encoded(shuts, [{**row, "completion": "lazy"}]).examples
    assert one.prompt_ids.tolist() == shuts.encode_rows([row])[0].tolist()
    assert taught(shuts, one) == f"lazy{END}"


@pytest.mark.parametrize("template", [FORGETS, SHUTS])
def test_a_template_that_rewrites_history_teaches_the_completion_only(tmp_path: Path, template: str) -> None:
    tokenizer = policy(tmp_path, template)
    row = {"messages": chat("dog", "<think>fox</think>lazy", "dog"), "completion": "<think>fox</think>jumps"}
    result = encoded(tokenizer, [{**row, "messages": chat("dog")}, row])
    one = result.examples[1][0]
    assert taught(tokenizer, one) == f"<think>fox</think>jumps{END}"
    assert one.prompt_ids.tolist() == tokenizer.encode_rows([row])[0].tolist()
    assert result.account.warnings["history"].first == 1 and set(result.account.warnings) == {"history"}


def test_a_template_that_trims_teaches_what_it_shows(tmp_path: Path) -> None:
    tokenizer = policy(tmp_path, TRIMS)
    row = {"messages": chat("dog", " fox\n", "lazy"), "completion": " jumps"}
    [[one]] = encoded(tokenizer, [row]).examples
    assert taught(tokenizer, one) == f"fox{END} jumps{END}"


def test_rows_cannot_forge_an_end_and_may_show_their_thinking(chatml: PolicyTokenizer) -> None:
    row = {"messages": chat(f"dog{END}", f"fox{END}", "lazy"), "completion": f"<think>1</think>{END}\n<|im_start|>x"}
    result = encoded(chatml, [row])
    [[one]] = result.examples
    assert {kind: noted.rows for kind, noted in result.account.warnings.items()} == {"control": 1}
    end, think = chatml.eos[0], chatml.encode_tag("<think>")[0]
    assert ids(one).count(end) == 4 and ids(one).count(think) == 1
    assert taught(chatml, one) == f"fox{END}{END}<think>1</think>{END}\n<|im_start|>x{END}"
    # A template was applied already: the end that the row has is the end.
    parsed = PromptFormat(control_tokens="tokens")
    for completion in ("fox", f"fox{END}", f"fox{END}\n"):
        [[one]] = encoded(chatml, [{"prompt": f"dog{END}", "completion": completion}], parsed).examples
        assert taught(chatml, one) == f"fox{END}"
    [[one]] = encoded(chatml, [{"prompt": f"dog{END}"}], parsed, learn="all").examples
    assert ids(one).count(end) == 1


def test_tools_system_and_suffix_reach_the_prompt(tmp_path: Path) -> None:
    tokenizer = policy(tmp_path, TOOLS)
    form = PromptFormat(chat=True, system="Be brief.", suffix=" Now.")
    tool = {"type": "function", "function": {"name": "bark"}}
    row = {"messages": chat("dog", "fox", "lazy"), "tools": [tool], "completion": "jumps"}
    [[one], [plain]] = encoded(tokenizer, [row, {"prompt": "dog", "completion": "fox"}], form).examples
    assert tokenizer.text(ids(one)) == f"{tokenizer.prompt_text(row, form)}jumps{END}"
    assert '"bark"' in tokenizer.text(one.prompt_ids.tolist()) and taught(tokenizer, one) == f"fox{END}jumps{END}"
    assert tokenizer.text(ids(plain)) == f"{tokenizer.prompt_text({'prompt': 'dog'}, form)}fox{END}"


LONG = [{"prompt": "dog", "completion": "x"}, {"prompt": "dog", "completion": "1 2 3 4 5 6 7 8 9"}]


def test_long_rows_are_refused_by_number_and_length(chatml: PolicyTokenizer) -> None:
    [_, [long]] = encoded(chatml, LONG).examples
    size = len(ids(long))
    with pytest.raises(StartError) as refused:
        encoded(chatml, LONG, max_tokens=8)
    assert str(refused.value) == (
        f"Longer than objective.max_tokens (8): row 1 ({size} tokens). Raise it to {size}, or set objective.overlong"
        " to drop, cut or split."
    )
    [_, [fits]] = encoded(chatml, LONG, max_tokens=size).examples
    assert ids(fits) == ids(long)


def test_long_rows_are_dropped_cut_or_split(chatml: PolicyTokenizer) -> None:
    [_, [long]] = encoded(chatml, LONG).examples
    whole, head = ids(long), len(long.prompt_ids)
    dropped = encoded(chatml, LONG, max_tokens=8, overlong="drop")
    assert [len(one) for one in dropped.examples] == [1, 0]
    assert (dropped.account.dropped, dropped.account.too_long, dropped.account.longest) == (1, 1, len(whole))

    cut = encoded(chatml, LONG, max_tokens=8, overlong="cut")
    [_, [short]] = cut.examples
    assert ids(short) == whole[:8] and len(short.prompt_ids) == head
    assert (short.finish_reason, cut.account.cut, cut.account.dropped) == ("length", 1, 0)

    split = encoded(chatml, LONG, max_tokens=8, overlong="split")
    parts = split.examples[1]
    assert [one.trajectory_id for one in parts] == [f"1-{n}" for n in range(len(parts))]
    assert [number for one in parts for number in ids(one)] == whole
    assert [len(one.prompt_ids) for one in parts] == [head, *[1] * (len(parts) - 1)]
    assert [one.finish_reason for one in parts] == ["length"] * (len(parts) - 1) + ["stop"]
    assert all(one.sampled.all() for one in parts)
    assert (split.account.split, split.account.examples) == (1, 1 + len(parts))


def test_parts_in_which_nothing_teaches_are_left_out(chatml: PolicyTokenizer) -> None:
    rows = [LONG[0], {"prompt": "0 1 2 3 4 5 6 7 8 9", "completion": "xyz"}]
    prompt = len(chatml.encode_rows(rows)[1])
    for long in ("cut", "split"):
        result = encoded(chatml, rows, max_tokens=prompt, overlong=long)
        kept = [one.trajectory_id for one in result.examples[1]]
        assert kept == ([] if long == "cut" else ["1-1"])
        assert ("untaught" in result.account.warnings) is (long == "cut")


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"prompt": "dog"}, "It has no `completion`, in which the objective looks for a completion."),
        ({"prompt": "dog", "completion": None}, "It has no `completion`"),
        ({"prompt": "dog", "completion": 4}, "`completion` must be text, not int."),
        ({"prompt": "dog", "completion": chat("x")}, "`completion` must be text, not list."),
        ({"messages": chat("dog", "fox"), "completion": "x"}, "Message 2 and the completion are both the assistant's"),
        ({"messages": [{"role": "system", "content": "x"}], "completion": "x"}, "a system prompt only"),
        (
            {"messages": [*chat("dog", "fox"), *chat("", "jumps", "x")[1:]], "completion": "x"},
            "Message 2 and message 3 are both the assistant's",
        ),
    ],
)
def test_wrong_rows_are_refused_by_number(chatml: PolicyTokenizer, row: dict[str, Any], why: str) -> None:
    with pytest.raises(StartError) as refused:
        encoded(chatml, [LONG[0], row, row])
    assert str(refused.value).startswith("Row 1 cannot be learned. ") and why in str(refused.value)
    assert str(refused.value).endswith("1 more rows cannot be learned either.")


def test_rows_without_a_lesson_are_left_out_and_counted(chatml: PolicyTokenizer) -> None:
    rows = [*LONG, *({"prompt": "dog", "completion": text} for text in ("", " \n", "\u200b"))]
    result = encoded(chatml, rows)
    assert [len(one) for one in result.examples] == [1, 1, 0, 0, 0]
    assert result.account.sentences() == ["3 of 5 rows have an empty completion, and are left out; row 2 is the first."]
    with pytest.raises(StartError, match=r"No row is left to learn from\. 3 of 3 rows have an empty completion"):
        encoded(chatml, rows[2:])
    assert encoded(chatml, []).account == Account()


def test_an_empty_turn_of_the_assistant_does_not_teach(chatml: PolicyTokenizer) -> None:
    result = encoded(chatml, [{"messages": chat("dog", "", "lazy", "fox", "dog"), "completion": "jumps"}])
    assert taught(chatml, result.examples[0][0]) == f"fox{END}jumps{END}"
    assert result.account.warnings["empty_turn"].rows == 1


def test_a_template_that_refuses_a_row_names_it(tmp_path: Path) -> None:
    refuses = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system messages') }}{% endif %}" + CHATML
    rows = [{"messages": chat("dog", system=system), "completion": "fox"} for system in (None, "Be brief.")]
    with pytest.raises(StartError, match=r"Row 1 cannot be learned.*no system messages"):
        encoded(policy(tmp_path, refuses), rows)


def pairs(tokenizer: PolicyTokenizer, rows: list[dict[str, Any]], **fields: Any) -> Encoded:
    return ExampleEncoder(tokenizer, Preference(**fields)).encode(rows)


def test_a_pair_is_two_completions_of_one_prompt(chatml: PolicyTokenizer) -> None:
    row = {"messages": chat("dog", "fox", "lazy"), "chosen": "jumps", "rejected": "over"}
    result = pairs(chatml, [row, {"prompt": "dog", "chosen": "fox", "rejected": "lazy"}])
    for row_number, texts in enumerate([("jumps", "over"), ("fox", "lazy")]):
        better, worse = result.examples[row_number]
        assert [better.trajectory_id, worse.trajectory_id] == [f"{row_number}-chosen", f"{row_number}-rejected"]
        assert np.array_equal(better.prompt_ids, worse.prompt_ids)
        assert (taught(chatml, better), taught(chatml, worse)) == tuple(text + END for text in texts)
        assert better.sampled.all() and worse.sampled.all()
    assert result.examples[0][0].prompt_ids.tolist() == chatml.encode_rows([row])[0].tolist()
    assert (result.account.examples, result.account.dropped) == (2, 0)


def test_pairs_that_cannot_teach(chatml: PolicyTokenizer) -> None:
    good = {"prompt": "dog", "chosen": "fox", "rejected": "lazy"}
    rows = [good, {**good, "rejected": "fox"}, {**good, "rejected": " "}, {**good, "chosen": "1 2 3 4 5 6 7 8"}]
    result = pairs(chatml, rows, max_tokens=8, overlong="drop")
    assert [len(one) for one in result.examples] == [2, 0, 0, 0]
    assert {kind: noted.first for kind, noted in result.account.warnings.items()} == {"equal": 1, "blank": 2}
    assert (result.account.dropped, result.account.too_long) == (3, 1)
    with pytest.raises(StartError, match=r"row 3 \(\d+ tokens\). Raise it to \d+, or set objective.overlong to drop."):
        pairs(chatml, rows, max_tokens=8)
    for wrong, why in (({"prompt": "dog", "chosen": "x"}, "no `rejected`"), ({**good, "chosen": []}, "not list")):
        with pytest.raises(StartError, match=f"Row 1 cannot be learned. .*{why}"):
            pairs(chatml, [good, wrong])


CHANNELS = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}"
    "{% if m['role'] == 'assistant' %}<|channel|>final{% endif %}<|message|>{{ m['content'] }}<|im_end|>{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant{% endif %}"
)


def test_a_channel_that_the_policy_writes_before_its_answer_teaches(tmp_path: Path) -> None:
    tokenizer = byte_level(control=("<|im_start|>", END, "<|channel|>", "<|message|>"))
    write_folder(tmp_path, tokenizer, CHANNELS)
    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": tokenizer.token_to_id(END)}))
    mine = PolicyTokenizer(tmp_path)
    row = {"messages": chat("dog", "fox", "lazy"), "completion": "jumps"}
    [[one]] = encoded(mine, [row]).examples
    opened = "<|channel|>final<|message|>"
    assert taught(mine, one) == f"{opened}fox{END}{opened}jumps{END}"
    assert ids(one).count(mine.encode_tag("<|channel|>")[0]) == 2
    parsed = PromptFormat(control_tokens="tokens")
    [[one]] = encoded(mine, [{**row, "completion": f"{opened}jumps"}], parsed, learn="completion").examples
    assert taught(mine, one) == f"{opened}jumps{END}"


def test_an_empty_thinking_of_the_template_is_no_part_of_the_completion(tmp_path: Path) -> None:
    """Such a template writes it before answers, and not in the prompt of a policy that thinks."""
    thinks = CHATML.replace(
        "m['content']", "('<think>\n\n</think>\n\n' if m['role'] == 'assistant' else '') + m['content']"
    )
    tokenizer = policy(tmp_path, thinks)
    row = {"messages": chat("dog"), "completion": "<think>\nfox\n</think>\n\njumps"}
    [[one]] = encoded(tokenizer, [row]).examples
    assert tokenizer.text(ids(one)) == f"{tokenizer.prompt_text(row)}{row['completion']}{END}"
