"""What the benchmarks of the console's live pages share: steps as workers send them, and a Chromium that looks on."""

import json
import os
import shutil
from datetime import UTC, datetime, timedelta
from typing import Any

from playwright.async_api import Browser, Page, Playwright

from tests.bench.console_fill import metric_names
from tests.support.browser import FLAGS

METRICS = 60
SHOWN = "critic/score/mean"
"""The metric whose chart is looked at; its value is the number of the step."""
CHART = "[data-testid=chart-reward] [role=img]"
WATCH = """chart => {
  window.seen_ = [];
  window.newest_ = 0;
  const look = () => {
    const told = /train ([\\d,]+)/.exec(document.querySelector(chart)?.ariaLabel ?? "");
    const step = Number(told?.[1].replaceAll(",", "") ?? 0);
    if (step !== window.newest_) {
      window.newest_ = step;
      setTimeout(() => window.seen_.push([step, performance.now()]));
    }
    requestAnimationFrame(look);
  };
  look();
}"""
"""Notes each change of the chart's newest value, in a task behind the frame, when it has been painted."""


def sync_body(steps: range, begun: datetime) -> bytes:
    """The body of a sync with these steps, a second each since ``begun``."""
    return json.dumps({"attempt": 1, "events": [_event(step, begun) for step in steps], "applied": []}).encode()


def _event(step: int, begun: datetime) -> dict[str, Any]:
    names = [name for name in metric_names(2 * METRICS) if name != SHOWN and not name.startswith("eval/")]
    values = {SHOWN: float(step)} | {name: step * 0.001 + place / 7 for place, name in enumerate(names[: METRICS - 1])}
    lanes = (("engine", "generate", 0.0, 0.6), ("learner", "update", 0.6, 1.0))
    spans = [
        {"lane": lane, "phase": phase, "start": step + start, "end": step + end} for lane, phase, start, end in lanes
    ]
    data = {"metrics": values, "tokens_total": step * 1000, "seconds": 1.0, "timeline": spans}
    at = (begun + timedelta(seconds=step)).isoformat()
    return {"seq": step, "kind": "step", "step": step, "at": at, "data": data}


async def chromium(playwright: Playwright) -> Browser:
    """The machine's own."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    return await playwright.chromium.launch(executable_path=path, args=FLAGS)


async def run_page(browser: Browser, port: int, run: str, cookie: str) -> Page:
    """A tab that shows a run, of somebody who has signed in, and notes what its chart shows."""
    url, (name, _, value) = f"http://127.0.0.1:{port}", cookie.partition("=")
    context = await browser.new_context(base_url=url, viewport={"width": 1440, "height": 900})
    await context.add_cookies([{"name": name, "value": value, "url": url}])
    page = await context.new_page()
    await page.goto(f"/runs/{run}")
    await page.get_by_test_id("step").wait_for(timeout=60_000)
    await page.evaluate(WATCH, CHART)
    return page


async def shown_at(page: Page, step: int, seconds: float) -> None:
    """Wait until the head of the page tells ``step``. Evaluated by the debugger: the page's policy forbids ``eval``."""
    told = await page.evaluate(
        """([step, seconds]) => new Promise(done => {
          const until = performance.now() + 1000 * seconds;
          const told = () => Number(document.querySelector("[data-testid=step]")?.textContent.replaceAll(",", ""));
          const look = () =>
            told() >= step || performance.now() > until ? done(told()) : requestAnimationFrame(look);
          look();
        })""",
        [step, seconds],
    )
    assert told >= step, f"after {seconds} s the page shows step {told}, not {step}"


def long_ago(seconds: float) -> datetime:
    """The moment so long before now."""
    return datetime.now(UTC) - timedelta(seconds=seconds)
