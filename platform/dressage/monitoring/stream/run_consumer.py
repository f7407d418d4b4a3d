"""``/ws/v1/runs/{id}?after=<seq>``: the events of one run, without gaps or doubles, and the run as it is."""

from typing import Any
from urllib.parse import parse_qs

from dressage.monitoring.stream.base import BAD_REQUEST, NO_SUCH_RUN, StreamConsumer
from dressage.runs.documents import live_run_document
from dressage.runs.models import Run
from dressage.runs.selectors import annotated
from dressage.telemetry.documents import event_document
from dressage.telemetry.models import Event
from dressage.telemetry.wakeup import run_group

MAX_EVENTS = 200
"""Events of one frame; the rest follows in the next ones."""
_RESTLESS = "lease_age_s"
"""Grows by itself: no reason to send the run again."""


class RunConsumer(StreamConsumer):
    """Sends ``{type: "events", seq, events, run}``.

    Without ``after``, the first frame names the newest ``seq`` and holds no events. ``seq`` is null in frames that
    carry no events but a run that has changed, such as a new phase.
    """

    def group(self) -> str:
        return run_group(self._run_id)

    def open(self) -> int | None:
        self._run_id = self.scope["url_route"]["kwargs"]["run_id"]
        run = Run.objects.filter(pk=self._run_id, team_id=self.watcher.team_id).only("event_seq").first()
        if run is None:
            return NO_SUCH_RUN
        after = parse_qs(self.scope["query_string"].decode("latin-1")).get("after", [""])[0]
        if after and not (after.isascii() and after.isdigit() and len(after) < 18):
            return BAD_REQUEST
        self._greet = not after
        # A client that claims to have seen the future would wait for ever: it is brought back to the present.
        self._seq = min(int(after), run.event_seq) if after else run.event_seq
        self._last: dict[str, Any] | None = None
        return None

    def frames(self) -> list[dict[str, Any]]:
        events = list(Event.objects.filter(run_id=self._run_id, seq__gt=self._seq).order_by("seq")[:MAX_EVENTS])
        self.more = len(events) == MAX_EVENTS
        found = annotated(Run.objects.filter(pk=self._run_id)).defer("spec", "effective_spec").first()
        if found is None:
            return []
        run = live_run_document(found)
        steady = {key: value for key, value in run.items() if key != _RESTLESS}
        if not events and steady == self._last:
            return []
        self._last = steady
        seq = events[-1].seq if events else self._seq if self._greet else None
        self._seq, self._greet = events[-1].seq if events else self._seq, False
        return [{"type": "events", "seq": seq, "events": [event_document(event) for event in events], "run": run}]
