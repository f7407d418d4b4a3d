"""The console in a real Chromium: ten runs of 300 metrics and 50,000 steps, and a completion of 32,768 tokens.

What is measured is what a person waits for: from the opening of an address to the first chart with its values, the
frames of a zoom, memory of the tab, and the code that was sent. Pages are opened once before, so that the web process
has its modules; the browser's cache is cold each time.
"""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import httpx
import numpy as np
from playwright.sync_api import Browser, CDPSession, Locator, Page, expect, sync_playwright

from tests.bench.console_fill import METRICS, STEPS
from tests.bench.report import Figure
from tests.support.browser import FLAGS, sign_in
from tests.support.installation import ROOT, Installation
from tests.support.trace_files import trace_file, trace_group
from trainer_core.link.traces import MEDIA_TYPE

LONG = int(os.environ.get("DRESSAGE_BENCH_STEPS", STEPS))
"""Steps of a run."""
TOKENS = 32_768
OPENINGS = 5
"""Of each page; the median is told."""
CHARTS = 'section[data-testid^="chart-"]'
DRAWN = """charts => new Promise(done => {
  const hasValues = one => /\\d/.test(one.ariaLabel);
  const look = () =>
    [...document.querySelectorAll(`${charts} [role=img]`)].some(hasValues)
      ? done(performance.now())
      : requestAnimationFrame(look);
  look();
})"""
"""Milliseconds from the opening of the page until a chart has values: its description tells the newest."""
WATCH_FRAMES = """() => {
  window.frames_ = [];
  let last = performance.now();
  const next = now => { window.frames_.push(now - last); last = now; window.watching_ = requestAnimationFrame(next); };
  window.watching_ = requestAnimationFrame(next);
}"""


@dataclass
class Opened:
    """What the opening of a page has cost."""

    seconds: float
    script_bytes: int
    charts: int
    mounted: int
    heap_mb: float
    frames: list[float] = field(default_factory=list)
    """Milliseconds between frames while a part of a chart is marked and zoomed into."""


def measure(installation: Installation) -> list[Figure]:
    """Fill the installation, then open its pages."""
    runs = _fill(installation)
    with sync_playwright() as playwright:
        chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        state = _signed_in(browser, installation)
        one = _charts(browser, installation, state, f"/runs/{runs[0]}")
        many = _charts(browser, installation, state, f"/runs/compare?runs={','.join(runs)}")
        siblings, tokens = _rollout(browser, installation, state, runs[0])
        browser.close()
    return [
        *_figures(f"a run of {METRICS} metrics × {LONG:,} steps", one),
        Figure("its JavaScript, as sent", one.script_bytes / 1e3, "kB", "≤ 300"),
        *_figures(f"{len(runs)} such runs compared", many),
        Figure(f"a group of two completions of {TOKENS:,} tokens, from the click", 1e3 * siblings, "ms", "< 500"),
        Figure("  the tokens of one with their values", 1e3 * tokens, "ms", "< 500"),
    ]


def _figures(name: str, opened: Opened) -> Iterator[Figure]:
    frames = sorted(opened.frames)
    yield Figure(f"{name}: to the first chart", opened.seconds, "s", "< 1.5")
    yield Figure("  frames of a zoom, p95", frames[int(0.95 * len(frames))], "ms", "< 100")
    yield Figure("  its slowest frame", frames[-1], "ms")
    yield Figure("  memory of its script", opened.heap_mb, "MB", "< 400")
    yield Figure(f"  charts that are drawn, of {opened.charts}", opened.mounted, "", "those on the screen")


def _fill(installation: Installation) -> list[str]:
    """Ids of the runs, of which the first has a completion with its tokens."""
    api = installation.api
    spec = next(one for one in api.get("/spec/recipes")["data"] if one["name"] == "demo")["spec"]
    run = api.post("/runs", {"name": "Long", "spec": spec, "start": False})["id"]
    _keep_tokens(installation, run)
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from tests.bench.console_fill import fill; import json; "
    found: list[str] = json.loads(installation.shell(f"{code}print(json.dumps(fill({run!r}, steps={LONG})))", 3600))
    return found


def _keep_tokens(installation: Installation, run: str) -> None:
    """Send a trace file as the worker of an attempt does."""
    token = installation.shell(
        "from django.utils import timezone; from dressage.runs.models import Attempt, Run; "
        "from dressage.common.secrets import secret_hash; from dressage.runs.tokens import link_token; "
        f"run = Run.objects.get(pk={run!r}); token = link_token(run.id, 1); "
        "Attempt.objects.create(run=run, number=1, token_sha256=secret_hash(token), created_at=timezone.now()); "
        "run.state, run.attempt = 'running', 1; run.save(); print(token)"
    ).strip()
    random = np.random.default_rng(0)
    values: dict[str, Any] = {
        "token_ids": random.integers(0, 1000, TOKENS).astype(np.int32),
        "behaviour_logprobs": -random.exponential(1, TOKENS).astype(np.float32),
        "learner_logprobs": -random.exponential(1, TOKENS).astype(np.float32),
        "entropy": random.exponential(1, TOKENS).astype(np.float32),
        "versions": np.zeros(TOKENS, np.int32),
        "sampled": np.ones(TOKENS, np.bool_),
        "output_text": " ".join(f"word{number}" for number in random.integers(0, 1000, TOKENS)),
    }
    data = trace_file(run, [trace_group(0, (0.0, 1.0), length=TOKENS, **values)], text=lambda token: f" word{token}")
    answer = httpx.put(
        f"{installation.url}/api/v1/link/runs/{run}/traces/1/0",
        content=data,
        headers={"Authorization": f"Bearer {token}", "Content-Type": MEDIA_TYPE},
        timeout=60,
    )
    assert answer.status_code == 201, answer.text


def _signed_in(browser: Browser, installation: Installation) -> Any:
    """Cookies of a session."""
    context = browser.new_context(base_url=installation.url)
    sign_in(context.new_page())
    state = context.storage_state()
    context.close()
    return state


@contextmanager
def _fresh(browser: Browser, installation: Installation, state: Any) -> Iterator[tuple[Page, CDPSession]]:
    """A tab with an empty cache, and its debugger."""
    size: Any = {"width": 1440, "height": 900}
    context = browser.new_context(base_url=installation.url, storage_state=state, viewport=size)
    context.set_default_timeout(120_000)
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Performance.enable")
    yield page, session
    context.close()


def _charts(browser: Browser, installation: Installation, state: Any, path: str) -> Opened:
    """Open a page of charts ``OPENINGS`` times; the last one is also zoomed."""
    seconds: list[float] = []
    for opening in range(OPENINGS + 1):
        with _fresh(browser, installation, state) as (page, session):
            sent = _scripts(session)
            page.goto(path, wait_until="commit")
            taken = page.evaluate(DRAWN, CHARTS) / 1e3
            if opening:  # the first one warms the web process
                seconds.append(taken)
            if opening == OPENINGS:
                page.wait_for_load_state("networkidle")
                opened = _looked_at(page, session, median(seconds), sum(sent.values()))
    return opened


def _looked_at(page: Page, session: CDPSession, seconds: float, script_bytes: int) -> Opened:
    """Zoom into the first chart, then count."""
    plot = page.locator(f"{CHARTS} .u-over").first
    box = plot.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.evaluate(WATCH_FRAMES)
    page.mouse.move(box["x"] + 0.2 * box["width"], middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.7 * box["width"], middle, steps=40)
    page.mouse.up()
    page.wait_for_load_state("networkidle")
    frames = page.evaluate("() => { cancelAnimationFrame(window.watching_); return window.frames_; }")
    count, mounted = page.locator(CHARTS).count(), page.locator(f"{CHARTS} canvas").count()
    session.send("HeapProfiler.collectGarbage")
    found = session.send("Performance.getMetrics")["metrics"]
    heap = next(one["value"] for one in found if one["name"] == "JSHeapUsedSize")
    return Opened(seconds, script_bytes, count, mounted, heap / 1e6, frames)


def _scripts(session: CDPSession) -> dict[str, int]:
    """Bytes of scripts as they come over the network, without their heads, by request."""
    sent: dict[str, int] = {}

    def begun(told: dict[str, Any]) -> None:
        if told["type"] == "Script":
            sent[told["requestId"]] = 0

    def came(told: dict[str, Any]) -> None:
        if told["requestId"] in sent:
            sent[told["requestId"]] += told["encodedDataLength"]

    session.on("Network.responseReceived", begun)
    session.on("Network.dataReceived", came)
    return sent


TAKEN = """selector => {
  window.taken_ = new Promise(done => {
    const click = () => {
      const begun = performance.now();
      const look = () =>
        document.querySelector(selector) ? done(performance.now() - begun) : requestAnimationFrame(look);
      look();
    };
    addEventListener("click", click, { capture: true, once: true });
  });
}"""


def _rollout(browser: Browser, installation: Installation, state: Any, run: str) -> tuple[float, float]:
    """Seconds from the click on a group to its two samples, and from there to the tokens of one."""
    seconds: list[tuple[float, float]] = []
    for opening in range(OPENINGS + 1):
        with _fresh(browser, installation, state) as (page, _):
            page.goto(f"/runs/{run}?tab=rollouts")
            group = page.get_by_test_id("groups-table").locator("tbody tr").first
            expect(group).to_be_visible()
            page.wait_for_load_state("networkidle")
            siblings = _seconds_of(page, group, "[data-testid=sample-1]")
            view = page.get_by_role("radiogroup", name="Sample view").get_by_text("Tokens")
            tokens = _seconds_of(page, view, "[data-testid=token-view] [data-token]")
            if opening:
                seconds.append((siblings, tokens))
    return median(one for one, _ in seconds), median(other for _, other in seconds)


def _seconds_of(page: Page, clicked: Locator, awaited: str) -> float:
    page.evaluate(TAKEN, awaited)
    clicked.click()
    return float(page.evaluate("() => window.taken_")) / 1e3
