"""Table of the known shapes, one file each. The first match counts, so more specific shapes come first."""

from trainer_core.datasets.shape import Shape
from trainer_core.datasets.shapes.conversational import CONVERSATIONAL
from trainer_core.datasets.shapes.examples.alpaca import ALPACA
from trainer_core.datasets.shapes.examples.answered import ANSWERED
from trainer_core.datasets.shapes.examples.plain_text import PLAIN_TEXT
from trainer_core.datasets.shapes.examples.preference import PREFERENCE
from trainer_core.datasets.shapes.examples.prompt_completion import PROMPT_COMPLETION
from trainer_core.datasets.shapes.game_of_24 import GAME_OF_24
from trainer_core.datasets.shapes.gsm8k import GSM8K
from trainer_core.datasets.shapes.humaneval import HUMANEVAL
from trainer_core.datasets.shapes.ifeval import IFEVAL
from trainer_core.datasets.shapes.knights_and_knaves import KNIGHTS_AND_KNAVES
from trainer_core.datasets.shapes.math import MATH
from trainer_core.datasets.shapes.mbpp import MBPP
from trainer_core.datasets.shapes.open_instruct import OPEN_INSTRUCT
from trainer_core.datasets.shapes.openai_rft import OPENAI_RFT
from trainer_core.datasets.shapes.own import OWN
from trainer_core.datasets.shapes.pairs import PAIRS
from trainer_core.datasets.shapes.paperbench import PAPERBENCH
from trainer_core.datasets.shapes.question_answer import QUESTION_ANSWER
from trainer_core.datasets.shapes.roll import ROLL
from trainer_core.datasets.shapes.sharegpt import SHAREGPT
from trainer_core.datasets.shapes.tasks import HARBOR, KATTIS
from trainer_core.datasets.shapes.ultrachat import ULTRACHAT
from trainer_core.datasets.shapes.verifiers import VERIFIERS
from trainer_core.datasets.shapes.verl import VERL
from trainer_core.datasets.shapes.writingbench import WRITINGBENCH

SHAPES: tuple[Shape, ...] = (
    KATTIS,
    HARBOR,
    MBPP,
    HUMANEVAL,
    IFEVAL,
    KNIGHTS_AND_KNAVES,
    VERL,
    OPEN_INSTRUCT,
    ROLL,
    PREFERENCE,
    ULTRACHAT,
    ANSWERED,
    OPENAI_RFT,
    PROMPT_COMPLETION,
    CONVERSATIONAL,
    OWN,
    GSM8K,
    VERIFIERS,
    MATH,
    QUESTION_ANSWER,
    WRITINGBENCH,
    PAPERBENCH,
    SHAREGPT,
    GAME_OF_24,
    PAIRS,
    ALPACA,
    PLAIN_TEXT,
)
