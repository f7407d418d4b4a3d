"""Live charts: 20 runs report 60 metrics a second each, 200 people watch them, and one of them has a real Chromium.

    python tests/bench/console_live.py [watchers] [seconds]

What is measured is the whole way: from the moment in which a worker begins to send a step until the frame in which the
chart tells its value has been painted. One web process serves all; runs, watchers and Chromium are on the same cores.
"""

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from playwright.async_api import Page, async_playwright

from tests.bench.console_stream import chromium, long_ago, run_page, shown_at, sync_body
from tests.bench.load_client import percentile
from tests.bench.load_setup import Cost, web
from tests.bench.load_streams import Lags, follow, sessions, train, watch
from tests.bench.load_sync import linked
from tests.bench.report import Figure, show
from tests.bench.telemetry_setup import platform

RUNS, WATCHERS, SECONDS = 20, 200, 60
SETTLE = 10
"""Steps before the first one that counts: the page reads its charts meanwhile."""


async def measure(port: int, server: Any, runs: list[Any], cookies: list[str], seconds: int) -> list[Figure]:
    """All runs train; the first one is also shown by a Chromium."""
    steps = range(1, SETTLE + seconds + 1)
    lags = [Lags() for _ in runs]
    spread = [place % len(runs) for place in range(len(cookies) - 1)]
    sockets = [await watch(port, runs[place].id, cookie) for place, cookie in zip(spread, cookies, strict=False)]
    for socket in sockets:
        await socket.recv()  # the first frame says what has been seen
    async with async_playwright() as playwright:
        browser = await chromium(playwright)
        page = await run_page(browser, port, runs[0].id, cookies[-1])
        following = [
            asyncio.create_task(follow(socket, steps, lags[place]))
            for place, socket in zip(spread, sockets, strict=True)
        ]
        cost = Cost(server)
        await asyncio.gather(
            *(_train(port, run, steps, lags[place], place / len(runs)) for place, run in enumerate(runs))
        )
        passed, web_s, database_s = cost.taken()
        await shown_at(page, steps[-1], 30)
        seen = await _seen(page)
        kept = await _in_table(page)
        await asyncio.gather(*following)
        await browser.close()
    await asyncio.gather(*(socket.close() for socket in sockets))
    counted = steps[SETTLE:]
    pixels = [at - lags[0].sent[step] for step, at in first_shown(seen, counted).items()]
    others = [lag for one in lags for lag in one.seen]
    return [
        Figure(f"{len(cookies)} watchers of {len(runs)} runs, event to pixel: p50", percentile(pixels, 0.5), "s"),
        Figure("  p95", percentile(pixels, 0.95), "s", "< 1"),
        Figure("  the slowest", max(pixels), "s"),
        Figure(f"  of {len(counted)} steps, not in the chart at the end", len(set(counted) - kept), "", "0"),
        Figure("  shown first together with a later one", len(set(counted) - {newest for newest, _ in seen}), ""),
        Figure("the other watchers, until the event is there: p95", percentile(others, 0.95), "s"),
        Figure("  events missing, doubled or out of order", sum(map(_amiss, lags)), "", "0"),
        Figure("share of one core, web", 100 * web_s / passed, "%"),
        Figure("share of one core, database", 100 * database_s / passed, "%"),
    ]


def first_shown(seen: list[tuple[int, float]], steps: range) -> dict[int, float]:
    """When the chart first told each step or, as it drew several at once, a later one; without what it never did."""
    return {step: min(at for newest, at in seen if newest >= step) for step in steps if step <= max(seen)[0]}


async def _train(port: int, run: Any, steps: range, lags: Lags, offset_s: float) -> None:
    """The runs one after another within each second."""
    begun = long_ago(0)
    bodies = [sync_body(range(step, step + 1), begun) for step in steps]
    await asyncio.sleep(offset_s)
    await train(port, run, steps, bodies, lags)


def _amiss(lags: Lags) -> int:
    return lags.missing + lags.doubled + lags.disordered


async def _seen(page: Page) -> list[tuple[int, float]]:
    """The newest step that the chart told, and when first, by our own clock."""
    brackets = []
    for _ in range(10):
        before = time.perf_counter()
        there = await page.evaluate("performance.now()") / 1e3
        brackets.append((time.perf_counter() - before, (time.perf_counter() + before) / 2 - there))
    _, shift = min(brackets)
    return [(int(step), at / 1e3 + shift) for step, at in await page.evaluate("window.seen_")]


async def _in_table(page: Page) -> set[int]:
    """The steps whose values the chart has, by its table."""
    card = page.get_by_test_id("chart-reward")
    await card.get_by_role("button", name="Data table").click()
    cells = await card.locator("tbody tr td:first-child").all_inner_texts()
    return {int(text.replace(",", "")) for text in cells}


def main() -> None:
    """Print the figures."""
    given = [int(text) for text in sys.argv[1:]]
    people, seconds = (*given, *(WATCHERS, SECONDS)[len(given) :])
    with platform():
        from dressage.runs.models import Run

        runs = list(Run.objects.filter(pk__in=[run for run, _ in linked(RUNS)]).select_related("team"))
        cookies = sessions(runs[0].team, people)
        with web(1) as (port, server):
            show("Live charts in Chromium", asyncio.run(measure(port, server, runs, cookies, seconds)))


if __name__ == "__main__":
    main()
