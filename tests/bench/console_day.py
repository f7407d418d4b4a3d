"""A tab that stays open for a day: memory of the run page in its second hour and in its last one.

    python tests/bench/console_day.py [steps]

A run with a step a second and 60 metrics, whose steps are sent as fast as the page shows them: all of them come to the
page over its stream. Nothing else happens in the run. What charts hold goes up with each step, and down each time that
the platform thins their points out, every 1,800 steps or so; so the largest reading of an hour is what is compared.
"""

import asyncio
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from asgiref.sync import sync_to_async
from playwright.async_api import CDPSession, Page, async_playwright

from tests.bench.console_stream import chromium, long_ago, run_page, shown_at, sync_body
from tests.bench.load_client import Connection, request
from tests.bench.load_setup import web
from tests.bench.load_streams import sessions
from tests.bench.report import Figure, show
from tests.bench.telemetry_setup import platform, running_run

STEPS = 24 * 3600
HOUR = 3600
AT_ONCE = 60
"""Steps of a sync, and so of a frame, which draws the charts anew: a minute."""
READ_EVERY = 5 * AT_ONCE
"""Steps between two readings of the memory, within the hours that count."""
BUCKET = 256
"""Steps whose mean a point may be where the platform has thinned a day out."""
COUNTED = {"JSHeapUsedSize": "memory of its script", "Nodes": "nodes of its document", "JSEventListeners": "listeners"}

Memory = dict[str, float]


async def measure(port: int, run: Any, token: str, cookie: str, steps: int) -> list[Figure]:
    """Feed the run, and look at the tab that shows it."""
    begun, found = long_ago(steps), dict[int, Memory]()
    async with async_playwright() as playwright:
        browser = await chromium(playwright)
        connection = await Connection.open(port)
        await _send(connection, run, token, range(1, AT_ONCE + 1), begun)
        page = await run_page(browser, port, run.id, cookie)
        session = await page.context.new_cdp_session(page)
        await session.send("Performance.enable")
        started = time.perf_counter()
        for last in range(2 * AT_ONCE, steps + 1, AT_ONCE):
            await _send(connection, run, token, range(last - AT_ONCE + 1, last + 1), begun)
            await shown_at(page, last, 60)
            if last % READ_EVERY == 0 and (HOUR < last <= 2 * HOUR or last > steps - HOUR):
                found[last] = await _memory(page, session, last)
            if last % HOUR == 0:
                await _roll_up()
                print(f"  step {last:,}: {time.perf_counter() - started:.0f} s", flush=True)
        passed = time.perf_counter() - started
        connection.close()
        await browser.close()
    early = largest(found, range(HOUR + 1, 2 * HOUR + 1))
    late = largest(found, range(steps - HOUR + 1, steps + 1))
    figures = [Figure(f"{steps:,} steps through the stream, {passed:.0f} s: steps shown a second", steps / passed)]
    for name, title in COUNTED.items():
        unit, scale = ("MB", 1e6) if name == "JSHeapUsedSize" else ("", 1)
        figures += [
            Figure(f"{title}, at most in the second hour", early[name] / scale, unit),
            Figure("  more in the last one", 100 * (late[name] / early[name] - 1), "%", "< 20"),
        ]
    return figures


def largest(found: dict[int, Memory], steps: range) -> Memory:
    """The largest reading of each kind within ``steps``."""
    within = [memory for step, memory in found.items() if step in steps]
    return {name: max(memory[name] for memory in within) for name in COUNTED}


async def _memory(page: Page, session: CDPSession, step: int) -> Memory:
    """What the tab holds on to, once the chart has come to ``step``."""
    newest = await page.evaluate("window.newest_")
    assert newest >= step - BUCKET, f"the chart shows {newest}, not {step}"
    await page.evaluate("window.seen_.length = 0")  # our own notes
    for _ in range(2):  # what is freed by finalizers goes with the second one
        await session.send("HeapProfiler.collectGarbage")
    found = (await session.send("Performance.getMetrics"))["metrics"]
    memory = {one["name"]: one["value"] for one in found if one["name"] in COUNTED}
    print(f"    step {step:,}: {memory['JSHeapUsedSize'] / 1e6:.1f} MB", flush=True)
    return memory


async def _send(connection: Connection, run: Any, token: str, steps: range, begun: datetime) -> None:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body = sync_body(steps, begun)
    status, answer = await connection.ask(request("POST", f"/api/v1/link/runs/{run.id}/sync", headers, body))
    assert status == 200, answer


async def _roll_up() -> None:
    """As the platform does while runs go on; here nobody else does it."""
    from dressage.runs.sweep.rolling import roll_up_all

    await sync_to_async(roll_up_all)()


def main() -> None:
    """Print the figures."""
    steps = int(sys.argv[1]) if sys.argv[1:] else STEPS
    with platform():
        from dressage.runs.models import Run
        from dressage.runs.tokens import link_token

        run = running_run()
        Run.objects.filter(pk=run.pk).update(started_at=long_ago(steps))
        [cookie] = sessions(run.team, 1)
        with web(1) as (port, _):
            token = link_token(run.id, 1)
            show("A tab that stays open for a day", asyncio.run(measure(port, run, token, cookie, steps)))


if __name__ == "__main__":
    main()
