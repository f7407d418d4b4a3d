"""Users of a judge. Rooms that know users of judges register a question here; rewards know none of them."""

from collections.abc import Callable

from dressage.teams.models import Team

UserOfJudge = Callable[[Team, str], str | None]
"""(team, slug of a judge) to a sentence such as ``The run 'x' asks this judge.``; None when nobody does."""
_QUESTIONS: list[UserOfJudge] = []


def register_user_of_judges(question: UserOfJudge) -> None:
    """Ask this before a judge is deleted. For ``AppConfig.ready``; a second call with the same question is harmless."""
    if question not in _QUESTIONS:
        _QUESTIONS.append(question)


def user_of_judge(team: Team, slug: str) -> str | None:
    """The first user that is found, as a sentence; None when nobody uses the judge."""
    return next((user for question in _QUESTIONS if (user := question(team, slug)) is not None), None)
