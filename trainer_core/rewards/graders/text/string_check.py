"""OpenAI's ``string_check``: one text against another."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import field_validator

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.grader_model import GraderModel
from trainer_core.rewards.graders.reference import is_blank
from trainer_core.rewards.graders.template import NoJsonError, check_template, item_columns, render
from trainer_core.rewards.reasons import quoted, tell
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import field

_WORDS = {
    "eq": "Equal",
    "ne": "Not equal",
    "like": "The first contains the second",
    "ilike": "The first contains the second, whatever the case",
}
"""What each operation asks for."""


class StringCheckGrader(GraderModel):
    """1 if ``input`` compares with ``reference`` as asked, else 0."""

    type: Literal["string_check"] = "string_check"
    name: str = field("", max_length=200)
    """Label; has no effect."""
    input: str = field("{{sample.output_text}}", max_length=20_000)
    """Template of the text that is graded."""
    reference: str = field("{{item.answer}}", max_length=20_000)
    """Template of the text that it is compared with."""
    operation: Literal["eq", "ne", "like", "ilike"] = "eq"
    """Equal, not equal, contains, or contains whatever the case."""

    _templates = field_validator("input", "reference")(check_template)

    @property
    def row_columns(self) -> tuple[str, ...]:
        """Columns that the templates read."""
        return item_columns((self.input, self.reference))

    def grade(self, sample: Sample, item: Mapping[str, Any]) -> float:
        """1.0 or 0.0; output that is not the JSON that a template reads is 0.0.

        Raises:
            GraderError: the reference is filled from the row and empty, or nothing is to be contained.
        """
        try:
            given, wanted = render(self.input, sample, item), render(self.reference, sample, item)
        except NoJsonError:
            tell("The output is not the JSON that the template reads.")
            return 0.0
        if is_blank(wanted) and ("{{" in self.reference or self.operation in ("like", "ilike")):
            raise GraderError(f"the reference {self.reference[:60]!r} is empty: there is no text to compare with")
        tell(f"{_WORDS[self.operation]}: {quoted(given)} against {quoted(wanted)}.")
        match self.operation:
            case "eq":
                return float(given == wanted)
            case "ne":
                return float(given != wanted)
            case "like":
                return float(wanted in given)
            case "ilike":
                return float(wanted.casefold() in given.casefold())
