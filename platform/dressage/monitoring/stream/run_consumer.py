"""``/ws/v1/runs/{id}?after=<seq>``: the events of one run, without gaps or duplicates, and its current state."""

import json
from functools import partial
from typing import Any
from urllib.parse import parse_qs

from dressage.monitoring.stream.base import BAD_REQUEST, NOT_FOUND, StreamConsumer
from dressage.monitoring.stream.shared import shared
from dressage.monitoring.stream.wakeups import wakeups
from dressage.runs.facts.documents import live_run_document
from dressage.runs.facts.selectors import with_facts
from dressage.runs.models import Run
from dressage.telemetry.documents import event_document
from dressage.telemetry.models import Event

MAX_EVENTS = 200
"""Events in one frame; the rest follows in the next ones."""
_RESTLESS = "lease_age_s"
"""Field that grows by itself: no reason to send the run again."""


class News:
    """News of a run since an event. All clients that have seen the same events share the same object."""

    def __init__(self, run_id: str, seq: int) -> None:
        events = list(Event.objects.filter(run_id=run_id, seq__gt=seq).order_by("seq")[:MAX_EVENTS])
        found = with_facts().filter(pk=run_id).defer("spec", "effective_spec").first()
        self.run = live_run_document(found) if found else None
        self.events = [event_document(event) for event in events]
        self.seq = events[-1].seq if events else seq
        self.more = len(events) == MAX_EVENTS
        self.steady = {key: value for key, value in (self.run or {}).items() if key != _RESTLESS}
        self._frames: dict[int | None, str] = {}

    def frame(self, seq: int | None) -> str:
        """The message; it is serialized once."""
        if seq not in self._frames:
            frame = {"type": "events", "seq": seq, "events": self.events, "run": self.run}
            self._frames[seq] = json.dumps(frame)
        return self._frames[seq]


class RunConsumer(StreamConsumer):
    """Sends ``{type: "events", seq, events, run}``.

    Without ``after``, the first frame names the newest ``seq`` and holds no events. ``seq`` is null in frames that
    carry no events but a changed run, such as a new phase.
    """

    def topic(self) -> str:
        return self._run_id

    def open(self) -> int | None:
        self._run_id: str = self.scope["url_route"]["kwargs"]["run_id"]
        run = Run.objects.filter(pk=self._run_id, team_id=self.watcher.team_id).only("event_seq").first()
        if run is None:
            return NOT_FOUND
        after = parse_qs(self.scope["query_string"].decode("latin-1")).get("after", [""])[0]
        if after and not (after.isascii() and after.isdigit() and len(after) < 18):
            return BAD_REQUEST
        self._greet = not after
        # A client that claims a future event would wait forever: it is reset to the newest one.
        self._seq = min(int(after), run.event_seq) if after else run.event_seq
        self._last: dict[str, Any] | None = None
        return None

    async def frames(self) -> list[str]:
        key = ("run", self._run_id, self._seq, wakeups().round(self._run_id))
        news = await shared(key, partial(News, self._run_id, self._seq))
        self.more = news.more
        if news.run is None or (not news.events and news.steady == self._last):
            return []
        self._last = news.steady
        seq = news.seq if news.events or self._greet else None
        self._seq, self._greet = news.seq, False
        return [news.frame(seq)]
