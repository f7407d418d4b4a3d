"""Rows of our own making in the forms of public data sets, with what a proposal makes of them."""

from typing import Any

FOREIGN: dict[str, tuple[list[dict[str, Any]], str, list[Any]]] = {
    "SQuAD": (
        [
            {
                "id": "1",
                "title": "Paris",
                "context": "Paris is the capital of France.",
                "question": "What is the capital of France?",
                "answers": {"text": ["Paris"], "answer_start": [0]},
            },
            {
                "id": "2",
                "title": "X",
                "context": "The Nile is long.",
                "question": "Which river is long?",
                "answers": {"text": ["Nile", "The Nile"], "answer_start": [4, 0]},
            },
        ],
        "{context}\n\n{question}",
        ["Paris", "Nile"],
    ),
    "SQuAD 2 (unanswerable)": (
        [
            {
                "id": "1",
                "title": "Paris",
                "context": "Paris is the capital of France.",
                "question": "What is the capital of France?",
                "answers": {"text": ["Paris"], "answer_start": [0]},
            },
            {
                "id": "2",
                "title": "X",
                "context": "The Nile is long.",
                "question": "Which river is long?",
                "answers": {"text": ["Nile", "The Nile"], "answer_start": [4, 0]},
            },
            {
                "id": "3",
                "title": "Y",
                "context": "A cat.",
                "question": "Which dog is it?",
                "answers": {"text": [], "answer_start": []},
            },
        ],
        "{context}\n\n{question}",
        ["Paris", "Nile", None],
    ),
    "ARC": (
        [
            {
                "id": "a",
                "question": "Which gas do plants take in?",
                "choices": {"text": ["oxygen", "carbon dioxide", "helium", "neon"], "label": ["A", "B", "C", "D"]},
                "answerKey": "B",
            },
            {
                "id": "b",
                "question": "What is ice made of?",
                "choices": {"text": ["water", "sand", "iron"], "label": ["1", "2", "3"]},
                "answerKey": "1",
            },
        ],
        "{question}\n\n{choices|letters}",
        ["B", "A"],
    ),
    "CommonsenseQA (raw)": (
        [
            {
                "id": "a",
                "answerKey": "A",
                "question": {
                    "question_concept": "fish",
                    "stem": "Where do fish live?",
                    "choices": [{"label": "A", "text": "sea"}, {"label": "B", "text": "sky"}],
                },
            }
        ],
        "{question.stem}\n\n{question.choices|letters}",
        ["A"],
    ),
    "MMLU": (
        [
            {"question": "What is 2+2 in base ten?", "subject": "math", "choices": ["3", "4", "5", "6"], "answer": 1},
            {
                "question": "Who wrote Hamlet, the play?",
                "subject": "lit",
                "choices": ["Shakespeare", "Goethe", "Dante", "Homer"],
                "answer": 0,
            },
            {"question": "x is what in this?", "subject": "lit", "choices": ["a1", "b1", "c1", "d1"], "answer": 3},
        ],
        "{question}\n\n{choices|letters}",
        ["B", "A", "D"],
    ),
    "C-Eval": (
        [
            {
                "id": 0,
                "question": "中国的首都是哪里？",
                "A": "上海",
                "B": "北京",
                "C": "广州",
                "D": "深圳",
                "answer": "B",
                "explanation": "",
            }
        ],
        "{question}\n\nA. {A}\nB. {B}\nC. {C}\nD. {D}",
        ["B"],
    ),
    "HellaSwag": (
        [
            {
                "ind": 1,
                "activity_label": "Cooking",
                "ctx_a": "A man",
                "ctx_b": "he",
                "ctx": "A man stands in a kitchen. he",
                "endings": ["cooks.", "flies.", "dies.", "melts."],
                "label": "0",
            },
            {
                "ind": 2,
                "activity_label": "Cooking",
                "ctx_a": "A man",
                "ctx_b": "he",
                "ctx": "A man stands in a hall. he",
                "endings": ["cooks.", "flies.", "dies.", "melts."],
                "label": "3",
            },
        ],
        "{ctx}\n\n{endings|letters}",
        ["A", "D"],
    ),
    "LogiQA": (
        [
            {
                "context": "All men are mortal. Socrates is a man.",
                "query": "What follows?",
                "options": ["Socrates is mortal", "No", "Maybe", "Never"],
                "correct_option": 0,
            },
            {
                "context": "All men are mortal. Zeus is no man.",
                "query": "What follows here?",
                "options": ["Zeus is mortal", "Nothing", "Maybe", "Never"],
                "correct_option": 1,
            },
        ],
        "{context}\n\n{query}\n\n{options|letters}",
        ["A", "B"],
    ),
    "MedMCQA": (
        [
            {
                "id": "1",
                "question": "Which bone is in the arm?",
                "opa": "Femur",
                "opb": "Ulna",
                "opc": "Tibia",
                "opd": "Fibula",
                "cop": 1,
                "choice_type": "single",
                "exp": "Ulna.",
                "subject_name": "Anatomy",
            },
            {
                "id": "2",
                "question": "Which bone is in the leg?",
                "opa": "Femur",
                "opb": "Ulna",
                "opc": "Skull",
                "opd": "Rib",
                "cop": 0,
                "choice_type": "single",
                "exp": "",
                "subject_name": "Anatomy",
            },
        ],
        "{question}\n\nA. {opa}\nB. {opb}\nC. {opc}\nD. {opd}",
        ["B", "A"],
    ),
    "MedQA": (
        [
            {
                "question": "A man has fever. What next?",
                "answer": "Aspirin",
                "options": {"A": "Nothing", "B": "Aspirin", "C": "Surgery", "D": "Sleep"},
                "meta_info": "step1",
                "answer_idx": "B",
            }
        ],
        "{question}\n\n{options|letters}",
        ["B"],
    ),
    "GPQA": (
        [
            {
                "Question": "Which particle has no charge?",
                "Correct Answer": "neutron",
                "Incorrect Answer 1": "proton",
                "Incorrect Answer 2": "electron",
                "Incorrect Answer 3": "muon",
                "Subdomain": "Physics",
            }
        ],
        "{Question}",
        ["neutron"],
    ),
    "AQuA-RAT": (
        [
            {
                "question": "What is 3 times 7 here?",
                "options": ["A)21", "B)22", "C)23"],
                "rationale": "3*7=21",
                "correct": "A",
            }
        ],
        "{question}\n\n{options|letters}",
        ["A"],
    ),
    "WinoGrande": (
        [
            {
                "sentence": "The cup did not fit the box because _ was big.",
                "option1": "cup",
                "option2": "box",
                "answer": "1",
            },
            {
                "sentence": "The cup did not fit the box because _ was small.",
                "option1": "cup",
                "option2": "box",
                "answer": "2",
            },
        ],
        "{sentence}\n\nA. {option1}\nB. {option2}",
        ["A", "B"],
    ),
    "SocialIQA": (
        [
            {
                "context": "Ann gave Bob a gift.",
                "question": "How does Bob feel?",
                "answerA": "sad",
                "answerB": "glad",
                "answerC": "mad",
                "label": "2",
            },
            {
                "context": "Ann hit Bob with it.",
                "question": "How does Bob feel?",
                "answerA": "sad",
                "answerB": "glad",
                "answerC": "mad",
                "label": "3",
            },
        ],
        "{context}\n\n{question}\n\nA. {answerA}\nB. {answerB}\nC. {answerC}",
        ["B", "C"],
    ),
    "TriviaQA": (
        [
            {
                "question": "Who painted the Mona Lisa?",
                "question_id": "tc_1",
                "question_source": "x",
                "entity_pages": {"title": []},
                "answer": {"value": "Leonardo", "aliases": ["Leonardo da Vinci"], "normalized_value": "leonardo"},
            }
        ],
        "{question}",
        ["Leonardo"],
    ),
    "NQ open": (
        [{"question": "who wrote hamlet the play", "answer": ["Shakespeare", "William Shakespeare"]}],
        "{question}",
        ["Shakespeare"],
    ),
    "DROP": (
        [
            {
                "section_id": "nfl",
                "query_id": "1",
                "passage": "They scored 3 goals and 4 goals.",
                "question": "How many goals in all?",
                "answers_spans": {"spans": ["7"], "types": ["number"]},
            }
        ],
        "{passage}\n\n{question}",
        ["7"],
    ),
    "Alpaca": (
        [
            {
                "instruction": "Name three colours.",
                "input": "",
                "output": "Red, green and blue are three colours.\nThere are more.",
            },
            {
                "instruction": "Sum these numbers.",
                "input": "1, 2, 3",
                "output": "\n".join(["The sum is 6."] * 9),
            },
        ],
        "{instruction}\n\n{input}",
        [None, None],
    ),
    "NuminaMath-CoT": (
        [
            {
                "source": "olympiads",
                "problem": "Find x in x+1=2.",
                "solution": "So $\\boxed{1}$.",
                "messages": [
                    {"role": "user", "content": "Find x in x+1=2."},
                    {"role": "assistant", "content": "So $\\boxed{1}$."},
                ],
            }
        ],
        "{problem}",
        ["1"],
    ),
    "MetaMathQA": (
        [
            {
                "type": "GSM_AnsAug",
                "query": "Ann has 3 cups and buys 4. How many?",
                "original_question": "x",
                "response": "3+4=7.\n#### 7\nThe answer is: 7",
            },
            {
                "type": "MATH_AnsAug",
                "query": "What is half of 8 cups?",
                "original_question": "x",
                "response": "It is 4. The answer is: 4",
            },
        ],
        "{query}",
        ["7", "4"],
    ),
    "OpenMathInstruct-2": (
        [
            {
                "problem": "What is 3 and 4 in sum?",
                "generated_solution": "So \\boxed{7}.",
                "expected_answer": "7",
                "problem_source": "augmented",
            }
        ],
        "{problem}",
        ["7"],
    ),
    "APPS": (
        [
            {
                "problem_id": 0,
                "question": "Read two numbers and print the sum.",
                "solutions": '["print(1)"]',
                "input_output": '{"inputs": ["1 2\\n"], "outputs": ["3\\n"]}',
                "difficulty": "interview",
                "url": "u",
                "starter_code": "",
            }
        ],
        "{question}",
        [None],
    ),
    "CodeContests": (
        [
            {
                "name": "1_A",
                "description": "Read a number and print its double.",
                "public_tests": {"input": ["1\n"], "output": ["2\n"]},
                "private_tests": {"input": ["4\n"], "output": ["8\n"]},
                "generated_tests": {"input": [], "output": []},
                "source": 2,
                "difficulty": 7,
                "solutions": {"language": [3], "solution": ["x"]},
            }
        ],
        "{description}",
        [None],
    ),
    "BBH": ([{"input": "not ( True ) and ( True ) is", "target": "False"}], "{input}", ["False"]),
    "AGIEval": (
        [
            {
                "passage": None,
                "question": "Which holds in all cases?",
                "options": ["(A)one", "(B)two", "(C)three"],
                "label": "B",
                "answer": None,
            }
        ],
        "{passage}\n\n{question}\n\n{options|letters}",
        ["B"],
    ),
    "LMSYS chat": (
        [
            {
                "conversation_id": "1",
                "model": "x",
                "conversation": [
                    {"role": "user", "content": "Hi, how are you?"},
                    {"role": "assistant", "content": "Fine."},
                ],
                "turn": 1,
                "language": "English",
            }
        ],
        "conversation",
        [None],
    ),
}
"""By name: rows, the template or the place of the chat, the answers."""

NOT_FOR_PROMPTS: dict[str, dict[str, Any]] = {
    "HotpotQA": {
        "id": "1",
        "question": "Which is older, A or B?",
        "answer": "A",
        "type": "comparison",
        "level": "hard",
        "supporting_facts": {"title": ["A"], "sent_id": [0]},
        "context": {"title": ["A", "B"], "sentences": [["A is old."], ["B is new."]]},
    },
    "SNLI": {"premise": "A man runs fast.", "hypothesis": "A man moves around.", "label": 0},
    "QNLI": {"question": "What came into force?", "sentence": "A law did, as of then.", "label": 1, "idx": 0},
    "QQP": {"question1": "How do I cook?", "question2": "How to cook?", "label": 1},
    "IMDB": {"text": "A fine film.", "label": 1},
    "SWE-bench": {
        "repo": "a/b",
        "instance_id": "x",
        "base_commit": "c",
        "patch": "diff",
        "test_patch": "diff",
        "problem_statement": "It breaks when run.",
        "FAIL_TO_PASS": '["t"]',
    },
    "HH-RLHF": {"chosen": "\n\nHuman: Hi\n\nAssistant: Hello", "rejected": "\n\nHuman: Hi\n\nAssistant: No"},
    "MS MARCO": {
        "answers": ["Yes"],
        "passages": {"passage_text": ["a"]},
        "query": "what is rba here",
        "query_id": 1,
        "query_type": "desc",
    },
    "Wikipedia": {"id": "1", "url": "u", "title": "Paris", "text": "Paris is a city in France."},
    "CNN/DailyMail": {"article": "A long text of news.", "highlights": "Short.", "id": "1"},
    "WMT": {"translation": {"de": "Hallo", "en": "Hello"}},
    "MMMU": {"question": "What is in <image 1> here?", "options": "['a', 'b']", "answer": "A", "image": None},
    "COPA": {
        "premise": "The man fell down.",
        "choice1": "He hurt himself.",
        "choice2": "He flew.",
        "question": "effect",
        "label": 0,
        "idx": 0,
    },
    "TableQA": {
        "question": "Which year had most goals?",
        "table": {"header": ["a"], "rows": [["1"]]},
        "answers": ["1999"],
    },
    "Index undecided": {"question": "What is two and two?", "choices": ["1", "2", "3", "4"], "answer": 2},
}
"""Rows that classify, rank or describe, or whose question leans on what a prompt cannot show."""
