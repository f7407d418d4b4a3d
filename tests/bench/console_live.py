"""Live charts: 20 runs report 60 metrics a second each, 200 people watch them, and one of them has a real Chromium.

What is measured is the whole way: from the moment in which a worker begins to send a step until the chart on the screen
tells its value, and whether every step came.
"""

import asyncio
import json
import os
import shutil
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from playwright.async_api import Browser, Page, async_playwright, expect
from websockets.asyncio.client import ClientConnection, connect

from tests.bench.load_client import Connection, percentile, request
from tests.bench.report import Figure
from tests.support.browser import FLAGS
from tests.support.installation import EMAIL, PASSWORD, Installation

RUNS, WATCHERS, SECONDS, METRICS = 20, 200, 60, 60
SHOWN = "critic/score/mean"
"""The metric whose chart is looked at; its value is the number of the step."""
SETTLE = 5
"""Steps before the first one that counts."""
SEE = """chart => {
  window.seen_ = {};
  const look = () => {
    const value = /train ([\\d,]+)/.exec(document.querySelector(chart)?.ariaLabel ?? "")?.[1]?.replaceAll(",", "");
    if (value && !(value in window.seen_)) window.seen_[value] = performance.timeOrigin + performance.now();
    window.newest_ = Number(value ?? 0);
    requestAnimationFrame(look);
  };
  look();
}"""
"""Notes of each frame which value the chart has by then, and when."""
MAKE = """
import json
from django.utils import timezone
from dressage.common.secrets import secret_hash
from dressage.runs.models import Attempt, Run
from dressage.runs.tokens import link_token
from dressage.teams.models import Membership, User
first = Run.objects.get(pk={run!r})
ids, now = [], timezone.now()
for number in range({runs}):
    first.pk, first.name, first._state.adding = f"{{first.pk[:-2]}}{{number:02d}}", f"Live {{number}}", True
    first.state, first.attempt, first.total_steps, first.started_at, first.queued_at = "running", 1, 100_000, now, now
    first.desired_state = "running"
    first.save()
    token = link_token(first.pk, 1)
    Attempt.objects.create(run=first, number=1, token_sha256=secret_hash(token), created_at=now)
    ids.append((first.pk, token))
from django.test import Client
cookies = []
team = first.team
for number in range({people}):
    person = User.objects.create(email=f"watcher-{{number}}@example.com")
    Membership.objects.create(team=team, user=person, role="viewer")
    browser = Client()
    browser.force_login(person)
    cookies.append(browser.cookies["sessionid"].value)
print(json.dumps([ids, cookies]))
"""


@dataclass
class Live:
    """What was seen."""

    sent: dict[int, float]
    """Seconds since 1970 at which each step of the watched run was sent."""
    seen: dict[int, float]
    """Those at which the chart first told it."""
    sockets: int
    """Steps that came to the other watchers."""
    wanted: int


def measure(installation: Installation) -> list[Figure]:
    """Make the runs and the people, then watch."""
    spec = next(one for one in installation.api.get("/spec/recipes")["data"] if one["name"] == "demo")["spec"]
    run = installation.api.post("/runs", {"name": "Live", "spec": spec, "start": False})["id"]
    made = installation.shell(MAKE.format(run=run, runs=RUNS, people=WATCHERS - 1), 300)
    runs, cookies = json.loads(made.strip().splitlines()[-1])
    live = asyncio.run(_watch(installation, runs, cookies))
    counted = [step for step in live.sent if step > SETTLE]
    lags = [live.seen[step] - live.sent[step] for step in counted if step in live.seen]
    return [
        Figure(f"{WATCHERS} watchers of {RUNS} runs, event to pixel: p50", percentile(lags, 0.5), "s"),
        Figure("  p95", percentile(lags, 0.95), "s", "< 1"),
        Figure("  the slowest", max(lags), "s"),
        Figure("  steps that the chart showed only with a later one", len(counted) - len(lags), ""),
        Figure("  steps that did not come to another watcher", live.wanted - live.sockets, "", "0"),
    ]


async def _watch(installation: Installation, runs: list[tuple[str, str]], cookies: list[str]) -> Live:
    port = int(installation.url.rpartition(":")[2])
    sockets = [await _open(installation.url, runs[place % RUNS][0], cookie) for place, cookie in enumerate(cookies)]
    counted = [asyncio.create_task(_count(socket)) for socket in sockets]
    async with async_playwright() as playwright:
        chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
        browser = await playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = await _page(browser, installation.url, runs[0][0])
        senders = [asyncio.create_task(_train(port, *run, place / RUNS)) for place, run in enumerate(runs)]
        await expect(page.get_by_test_id("chart-reward")).to_be_visible(timeout=60_000)
        await page.evaluate(SEE, "[data-testid=chart-reward] [role=img]")
        sent = (await asyncio.gather(*senders))[0]
        await page.wait_for_function("step => step in window.seen_", arg=str(SECONDS), timeout=30_000)
        seen = {int(step): at / 1e3 for step, at in (await page.evaluate("window.seen_")).items()}
        await browser.close()
    came = sum(await asyncio.gather(*counted))
    return Live(sent, seen, came, len(sockets) * SECONDS)


async def _page(browser: Browser, url: str, run: str) -> Page:
    page = await browser.new_page(base_url=url, viewport={"width": 1440, "height": 900})
    await page.goto("/runs")
    await page.get_by_label("Email").fill(EMAIL)
    await page.get_by_role("textbox", name="Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible(timeout=60_000)
    await page.goto(f"/runs/{run}")
    return page


async def _open(url: str, run: str, cookie: str) -> ClientConnection:
    address = f"{url.replace('http', 'ws', 1)}/ws/v1/runs/{run}"
    headers = {"Cookie": f"sessionid={cookie}"}
    return await connect(address, origin=url, additional_headers=headers, open_timeout=60)  # type: ignore[arg-type]


async def _count(socket: ClientConnection) -> int:
    """Steps that came, until the last one."""
    came: set[int] = set()
    async with asyncio.timeout(SECONDS + 120):
        while SECONDS not in came:
            frame = json.loads(await socket.recv())
            came |= {event["step"] for event in frame.get("events", ()) if event["kind"] == "step"}
    await socket.close()
    return len(came)


async def _train(port: int, run: str, token: str, offset_s: float) -> dict[int, float]:
    """One step a second, as a worker sends them; the runs one after another within each second."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection, sent = await Connection.open(port), {}
    begin = time.perf_counter() + offset_s
    for step in range(1, SECONDS + 1):
        await asyncio.sleep(max(0.0, begin + step - time.perf_counter()))
        sent[step] = time.time()
        path = f"/api/v1/link/runs/{run}/sync"
        body = {"attempt": 1, "events": [step_event(step)], "applied": []}
        status, answer = await connection.ask(request("POST", path, headers, json.dumps(body).encode()))
        assert status == 200, answer
    connection.close()
    return sent


def step_event(step: int) -> dict[str, Any]:
    """A step with ``METRICS`` metrics, of which the one that is looked at is its number."""
    values = {SHOWN: float(step)} | {f"plugin/metric_{number}": step + number / 7 for number in range(METRICS - 1)}
    data = {"metrics": values, "tokens_total": step * 1000, "seconds": 1.0}
    return {"seq": step, "kind": "step", "step": step, "at": datetime.now(UTC).isoformat(), "data": data}
