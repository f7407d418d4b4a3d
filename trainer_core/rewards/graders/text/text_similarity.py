"""OpenAI's ``text_similarity``."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import field_validator
from rapidfuzz import fuzz

from trainer_core.rewards.grader_model import GraderModel
from trainer_core.rewards.graders.template import NoJsonError, check_template, item_columns, render
from trainer_core.rewards.graders.text import similarity
from trainer_core.rewards.reasons import quoted, tell
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import field

Metric = Literal[
    "fuzzy_match", "bleu", "gleu", "meteor", "cosine", "rouge_1", "rouge_2", "rouge_3", "rouge_4", "rouge_5", "rouge_l"
]
_MAX_TEXT = 100_000


class TextSimilarityGrader(GraderModel):
    """How alike ``input`` and ``reference`` are, from 0 to 1."""

    type: Literal["text_similarity"] = "text_similarity"
    name: str = field("", max_length=200)
    """Label; has no effect."""
    input: str = field("{{sample.output_text}}", max_length=20_000)
    """Template of the text that is graded."""
    reference: str = field("{{item.answer}}", max_length=20_000)
    """Template of the text that it is compared with."""
    evaluation_metric: Metric = "fuzzy_match"
    """Measure. ``cosine`` counts tokens; ``meteor`` matches equal tokens only."""
    pass_threshold: float | None = field(None, ge=0.0, le=1.0)
    """If set, the grade is 1 from here on and 0 below."""

    _templates = field_validator("input", "reference")(check_template)

    @property
    def row_columns(self) -> tuple[str, ...]:
        """Columns that the templates read."""
        return item_columns((self.input, self.reference))

    def grade(self, sample: Sample, item: Mapping[str, Any]) -> float:
        """Grade from 0.0 to 1.0; output that is not the JSON that a template reads is 0.0."""
        try:
            given, wanted = render(self.input, sample, item), render(self.reference, sample, item)
        except NoJsonError:
            tell("The output is not the JSON that the template reads.")
            return 0.0
        value = self._measure(given[:_MAX_TEXT], wanted[:_MAX_TEXT])
        passes = "" if self.pass_threshold is None else f", and {self.pass_threshold:g} passes"
        tell(f"{self.evaluation_metric} {value:.4g}{passes}: {quoted(given)} against {quoted(wanted)}.")
        return value if self.pass_threshold is None else float(value >= self.pass_threshold)

    def _measure(self, given: str, wanted: str) -> float:
        if self.evaluation_metric == "fuzzy_match":
            return fuzz.ratio(given, wanted) / 100
        ours, theirs = similarity.tokens(given), similarity.tokens(wanted)
        match self.evaluation_metric:
            case "bleu":
                return similarity.bleu(ours, theirs)
            case "gleu":
                return similarity.gleu(ours, theirs)
            case "meteor":
                return similarity.meteor(ours, theirs)
            case "cosine":
                return similarity.cosine(ours, theirs)
            case "rouge_l":
                return similarity.rouge_l(ours, theirs)
            case _:
                return similarity.rouge_n(ours, theirs, int(self.evaluation_metric[-1]))
