"""What the benchmarks of live pages send and count."""

import json
from datetime import UTC, datetime

from tests.bench.console_day import COUNTED, largest
from tests.bench.console_live import first_shown
from tests.bench.console_stream import METRICS, SHOWN, sync_body


def test_a_step_is_shown_with_the_first_frame_that_tells_it_or_a_later_one() -> None:
    seen = [(1, 10.0), (3, 12.0), (4, 13.0)]
    assert first_shown(seen, range(1, 7)) == {1: 10.0, 2: 12.0, 3: 12.0, 4: 13.0}  # 5 and 6 never were


def test_of_an_hour_the_largest_readings_count() -> None:
    found = {step: dict.fromkeys(COUNTED, float(value)) for step, value in ((300, 9), (600, 4), (900, 7), (1200, 8))}
    assert largest(found, range(600, 901)) == dict.fromkeys(COUNTED, 7.0)


def test_the_metric_that_is_looked_at_tells_the_number_of_the_step() -> None:
    body = json.loads(sync_body(range(7, 9), datetime(2026, 11, 26, tzinfo=UTC)))
    assert [(event["seq"], event["step"], event["data"]["metrics"][SHOWN]) for event in body["events"]] == [
        (7, 7, 7.0),
        (8, 8, 8.0),
    ]
    assert [event["at"] for event in body["events"]] == ["2026-11-26T00:00:07+00:00", "2026-11-26T00:00:08+00:00"]
    assert {len(event["data"]["metrics"]) for event in body["events"]} == {METRICS}
