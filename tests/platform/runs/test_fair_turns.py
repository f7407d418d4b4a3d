"""Whose turn is next, by simulation: no team's queue, however long, delays another's."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from dressage.runs.facts.places import TeamQueue, next_team

BEGIN = datetime(2026, 11, 22, tzinfo=UTC)


@dataclass
class Cluster:
    """Places and teams' queues on a clock of its own. A run is its number."""

    places: int
    limits: dict[str, int]
    now: int = 0
    queued: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """(time, run) by team."""
    held: dict[str, list[int]] = field(default_factory=dict)
    served_at: dict[str, datetime] = field(default_factory=dict)
    served: list[tuple[str, int]] = field(default_factory=list)

    def queue(self, team: str, run: int) -> None:
        self.now += 1
        self.queued.setdefault(team, []).append((self.now, run))

    def end(self, team: str) -> None:
        """End the team's oldest run, if one trains."""
        if self.held.get(team):
            self.held[team].pop(0)

    def queues(self) -> list[TeamQueue]:
        return [
            TeamQueue(
                team_id=team,
                held=len(self.held.get(team, [])),
                limit=self.limits.get(team, self.places),
                served_at=self.served_at.get(team),
                waiting_since=BEGIN + timedelta(seconds=waiting[0][0]),
            )
            for team, waiting in self.queued.items()
            if waiting
        ]

    def fill(self) -> list[str]:
        """Give free places away, as ``admission`` does. Gives the teams that were served, in order."""
        given = []
        while sum(map(len, self.held.values())) < self.places and (turn := next_team(self.queues())) is not None:
            self.now += 1
            _, run = self.queued[turn.team_id].pop(0)
            self.held.setdefault(turn.team_id, []).append(run)
            self.served_at[turn.team_id] = BEGIN + timedelta(seconds=self.now)
            self.served.append((turn.team_id, run))
            given.append(turn.team_id)
        return given


def test_a_hundred_waiting_runs_delay_another_team_by_no_more_than_one_turn() -> None:
    cluster = Cluster(places=1, limits={})
    for run in range(100):
        cluster.queue("many", run)
    assert cluster.fill() == ["many"]
    cluster.queue("one", 1000)
    turns = []
    for _ in range(4):
        cluster.end("many" if cluster.held["many"] else "one")
        turns += cluster.fill()
    assert turns == ["one", "many", "many", "many"]


def test_two_long_queues_take_turns_and_each_keeps_its_order() -> None:
    cluster = Cluster(places=2, limits={})
    for run in range(4):
        cluster.queue("a", run)
    for run in range(4):
        cluster.queue("b", 10 + run)
    cluster.fill()
    while any(cluster.queued.values()):
        cluster.end("a")
        cluster.end("b")
        cluster.fill()
    assert [run for team, run in cluster.served if team == "a"] == [0, 1, 2, 3]
    assert [run for team, run in cluster.served if team == "b"] == [10, 11, 12, 13]
    assert [{team for team, _ in cluster.served[n : n + 2]} for n in range(0, 8, 2)] == [{"a", "b"}] * 4


def test_a_team_at_its_limit_is_passed_over() -> None:
    cluster = Cluster(places=4, limits={"small": 1, "none": 0})
    for run in range(3):
        cluster.queue("small", run)
        cluster.queue("none", 10 + run)
        cluster.queue("large", 20 + run)
    assert sorted(cluster.fill()) == ["large", "large", "large", "small"]
    cluster.end("small")
    assert cluster.fill() == ["small"]


TEAMS = ("a", "b", "c", "d")
ACTS = st.lists(
    st.one_of(st.tuples(st.just("queue"), st.sampled_from(TEAMS)), st.tuples(st.just("end"), st.sampled_from(TEAMS))),
    max_size=120,
)


@settings(max_examples=200, deadline=None)
@given(
    places=st.integers(1, 4), limits=st.dictionaries(st.sampled_from(TEAMS), st.integers(1, 4), max_size=4), acts=ACTS
)
def test_whatever_happens(places: int, limits: dict[str, int], acts: list[tuple[str, str]]) -> None:
    """Limits hold, no place stays free that somebody may have, and no run is served twice or before an older one.

    A team without a place is served before any other team is served twice.
    """
    cluster = Cluster(places, limits)
    passed: dict[str, list[str]] = {}
    """Teams served while a team waits without a place."""
    for run, (act, team) in enumerate([*acts, *[("end", team) for team in TEAMS * len(acts)]]):
        if act == "queue":
            cluster.queue(team, run)
        else:
            cluster.end(team)
        poor = {team for team, waiting in cluster.queued.items() if waiting and not cluster.held.get(team)}
        passed = {team: passed.get(team, []) for team in poor}
        for served in cluster.fill():
            passed.pop(served, None)
            for others in passed.values():
                others.append(served)
                assert len(set(others)) == len(others)
        assert sum(map(len, cluster.held.values())) <= places
        assert all(len(held) <= limits.get(team, places) for team, held in cluster.held.items())
        assert sum(map(len, cluster.held.values())) == places or all(
            len(cluster.held.get(team, [])) >= limits.get(team, places)
            for team, waiting in cluster.queued.items()
            if waiting
        )
    assert not any(cluster.queued.values()), "somebody was never served"
    for team in TEAMS:
        own = [run for name, run in cluster.served if name == team]
        assert own == sorted(set(own))
