"""Users of a judge. Packages that use judges register finders here; rewards do not depend on them."""

from collections.abc import Callable

from dressage.teams.models import Team

UserOfJudge = Callable[[Team, str], str | None]
"""Function from (team, slug of a judge) to a sentence such as ``The run 'x' asks this judge.``; None if it is
unused."""
_QUESTIONS: list[UserOfJudge] = []


def register_user_of_judges(question: UserOfJudge) -> None:
    """Register a finder to call before a judge is deleted. For ``AppConfig.ready``; registering twice is harmless."""
    if question not in _QUESTIONS:
        _QUESTIONS.append(question)


def user_of_judge(team: Team, slug: str) -> str | None:
    """The first user found, as a sentence; None if the judge is unused."""
    return next((user for question in _QUESTIONS if (user := question(team, slug)) is not None), None)
