"""A tab that stays open for a day: memory of the run page after a fifth of the day's steps, and at their end.

A step every five seconds for 24 hours, sent as fast as the page shows them.
"""

import json
import os
import shutil
import time

import httpx
from playwright.sync_api import CDPSession, Page, sync_playwright

from tests.bench.console_live import MAKE, SEE, step_event
from tests.bench.report import Figure
from tests.support.browser import FLAGS, sign_in
from tests.support.installation import Installation

STEPS = int(os.environ.get("DRESSAGE_BENCH_STEPS", 24 * 3600 // 5))
AT_ONCE = 48
"""Steps of a sync: four minutes."""


def measure(installation: Installation) -> list[Figure]:
    """Feed a run, and look at the tab that shows it."""
    spec = next(one for one in installation.api.get("/spec/recipes")["data"] if one["name"] == "demo")["spec"]
    base = installation.api.post("/runs", {"name": "Day", "spec": spec, "start": False})["id"]
    made = installation.shell(MAKE.format(run=base, runs=1, people=0), 300)
    ((run, token),) = json.loads(made.strip().splitlines()[-1])[0]
    with sync_playwright() as playwright:
        chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(base_url=installation.url, viewport={"width": 1440, "height": 900})
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        sign_in(page)
        with httpx.Client(
            base_url=installation.url, headers={"Authorization": f"Bearer {token}"}, timeout=60
        ) as worker:
            _send(worker, run, range(1, AT_ONCE + 1))
            page.goto(f"/runs/{run}")
            page.evaluate(SEE, "[data-testid=chart-reward] [role=img]")
            begun = time.perf_counter()
            early = _feed(worker, page, session, run, range(AT_ONCE + 1, STEPS // 5))
            late = _feed(worker, page, session, run, range(STEPS // 5, STEPS + 1))
            taken = time.perf_counter() - begun
        browser.close()
    grown = [(100 * (after / before - 1)) for before, after in zip(early, late, strict=True)]
    return [
        Figure(f"script memory of a tab after {STEPS // 5:,} steps", early[0] / 1e6, "MB"),
        Figure(f"  after {STEPS:,} steps, more", grown[0], "%", "< 20"),
        Figure("  nodes of the page, more", grown[1], "%", "< 20"),
        Figure("  listeners, more", grown[2], "%", "< 20"),
        Figure("  steps shown a second", STEPS / taken, ""),
    ]


def _feed(worker: httpx.Client, page: Page, session: CDPSession, run: str, steps: range) -> tuple[float, ...]:
    """Send steps as the page shows them; returns the bytes of its script, its nodes and listeners, without waste."""
    for first in range(steps.start, steps.stop, AT_ONCE):
        part = range(first, min(first + AT_ONCE, steps.stop))
        _send(worker, run, part)
        # Where points were thinned out, the newest is a mean of up to 32 steps.
        page.wait_for_function("step => window.newest_ >= step - 32", arg=part[-1], timeout=60_000)
    session.send("HeapProfiler.collectGarbage")
    found = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    return tuple(found[name] for name in ("JSHeapUsedSize", "Nodes", "JSEventListeners"))


def _send(worker: httpx.Client, run: str, steps: range) -> None:
    body = {"attempt": 1, "events": [step_event(step) for step in steps], "applied": []}
    answer = worker.post(f"/api/v1/link/runs/{run}/sync", json=body)
    assert answer.status_code == 200, answer.text
