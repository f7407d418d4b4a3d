"""Every page of the console, by a name and a path."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from secrets import token_hex
from typing import Any

from playwright.sync_api import Page, Request, expect

from tests.support.installation import Installation, wait_until

UNDER_WAY = '[aria-busy="true"], .mantine-Skeleton-root, .mantine-Loader-root'
"""What a page shows in the place of something that is on its way."""
TWO_FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
TABS = ("charts", "incidents", "rollouts", "events", "controls", "checkpoints", "config")
"""Those of a run."""


def open_wholly(page: Page, path: str) -> None:
    """Go to a page, and wait until all of it is there: nothing is on its way, and no request is in flight."""
    under_way = page.locator(UNDER_WAY)
    with _in_flight(page) as requests:

        def is_still() -> bool:
            page.evaluate(TWO_FRAMES)  # in which the page draws what came, and asks for what that needs
            return not requests and under_way.count() == 0

        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        wait_until(lambda: is_still() and is_still(), 30, lambda: f"{path}: {[one.url for one in requests]}")


def paths_of_pages(installation: Installation, runs: Sequence[str]) -> dict[str, str]:
    """A path for every page, with an object of each noun behind it.

    Args:
        installation: with the demo's datasets, reward and policy.
        runs: ids of runs to be compared; the pages of a run are those of the first.
    """
    run = runs[0]
    dataset = _id_of(installation, "datasets", "gsm8k-add-sub")
    reward = _id_of(installation, "rewards", "calculation")
    policy = _id_of(installation, "policies", "starter")
    rubric, bench = _rubric_on_the_bench(installation)
    report = _report_of(installation, run)
    return {
        "home": "/",
        "runs": "/runs",
        "new run": "/runs/new",
        "compare": f"/runs/compare?runs={','.join(runs)}",
        "reports": "/reports",
        "report": f"/reports/{report}",
        "report, written": f"/reports/{report}?edit=on",
        "report, before": f"/reports/{report}?revision=1",
        **{f"run, {tab}": f"/runs/{run}?tab={tab}" for tab in TABS},
        "datasets": "/datasets",
        "dataset": f"/datasets/{dataset}",
        **{f"dataset, {tab}": f"/datasets/{dataset}?tab={tab}" for tab in ("lab", "difficulty")},
        "difference of versions": f"/datasets/{_dataset_of_two_versions(installation, dataset)}?version=2&against=1",
        "rewards": "/rewards",
        "new reward": "/rewards/new",
        "reward": f"/rewards/{reward}",
        "rubric": f"/rewards/{rubric}",
        **{f"reward, {tab}": f"/rewards/{rubric}?tab={tab}" for tab in ("bench", "proposals", "versions")},
        "bench": f"/rewards/{rubric}?tab=bench&job={bench}",
        "policies": "/policies",
        "policy": f"/policies/{policy}",
        "clusters": "/clusters",
        "team": "/team",
        "tokens": "/team?tab=tokens",
        "judges": "/team?tab=judges",
        "GPU hours": "/team?tab=gpu-hours",
        "audit log": "/team?tab=audit",
        "account": "/account",
    }


@contextmanager
def _in_flight(page: Page) -> Iterator[set[Request]]:
    """The requests of the page that are not answered yet, kept up to date for as long as this lasts."""
    requests: set[Request] = set()

    def begins(request: Request) -> None:
        requests.add(request)

    def ends(request: Request) -> None:
        requests.discard(request)

    page.on("request", begins)
    page.on("requestfinished", ends)
    page.on("requestfailed", ends)
    yield requests
    page.remove_listener("request", begins)
    page.remove_listener("requestfinished", ends)
    page.remove_listener("requestfailed", ends)


def _id_of(installation: Installation, noun: str, slug: str) -> str:
    found = installation.api.get(f"/{noun}", limit=200)["data"]
    return next(str(one["id"]) for one in found if one["slug"] == slug)


def _dataset_of_two_versions(installation: Installation, dataset: str) -> str:
    """A copy of a dataset without a row, whose second version lacks another."""
    api = installation.api

    def without_first_row(of: str, **more: Any) -> Any:
        row = api.get(f"/datasets/{of}/versions/1/rows", limit=1)["data"][0]["id"]
        operation = {"name": "edit", "changes": [{"op": "remove", "id": row}]}
        return api.post(f"/datasets/{of}/versions/1/derive", {"operation": operation, **more})

    made = without_first_row(dataset, into={"name": "A copy", "slug": f"copy-{token_hex(3)}"})
    copy = str(made["results"][0]["dataset_id"])
    without_first_row(copy)
    return copy


def _report_of(installation: Installation, run: str) -> str:
    """A report with a block of each kind about a run."""
    runs = [{"id": run, "name": "The run"}]
    text = (
        "## In short\n\nA budget for thinking is a change in mid-run: the lane over the charts marks it, and what it "
        "does to the pass rate $p$ stands below[^1].\n\n| from step | changed |\n|---|---|\n| 50 | thinking budget |\n"
        "| 100 | learning rate, to half |\n\n- [x] Both are looked at beside the held-out prompts.\n"
        "- [ ] The same again with another seed.\n\n[^1]: With intervals over prompts, not over seeds.\n"
    )
    blocks = [
        {"type": "text", "id": "text", "markdown": text},
        {"type": "chart", "id": "chart", "metrics": ["critic/score/mean", "actor/entropy"], "runs": runs},
        {"type": "evaluations", "id": "evaluations", "runs": runs},
        {"type": "spec", "id": "spec", "runs": runs},
        {
            "type": "sample", "id": "sample", "run": runs[0], "step": 1, "group": "g", "number": 0,
            "prompt": "1+1=", "completion": "2", "reward": 1.0,
        },
    ]  # fmt: skip
    body = {"title": "What a budget for thinking does", "content": {"blocks": blocks}}
    made: str = installation.api.post("/reports", body)["id"]
    more = [*blocks, {"type": "text", "id": "more", "markdown": "The next run begins here[^1].\n\n[^1]: As a fork."}]
    installation.api.patch(f"/reports/{made}", {"content": {"blocks": more}}, **{"If-Match": '"1"'})
    return made


def _rubric_on_the_bench(installation: Installation) -> tuple[str, str]:
    """A reward with a rubric, whose judge does not answer, and a bench job of another that flips."""
    api, mark = installation.api, token_hex(3)
    judge = {"name": "House judge", "slug": f"house-{mark}", "base_url": "http://127.0.0.1:9/v1", "model": "judge"}
    api.post("/judge-endpoints", judge)
    items = [{"name": "correct", "description": "The answer is right.", "weight": 2}]
    items.append({"name": "invents", "description": "The answer invents facts.", "weight": -1})
    component = {"name": "quality", "grader": {"type": "rubric", "items": items, "endpoint": judge["slug"]}}
    definition = {"components": [component]}
    reward = api.post("/rewards", {"name": "With a rubric", "slug": f"rubric-{mark}", "definition": definition})
    graders = (
        {"type": "numeric"},
        {"type": "string_check", "input": "{{sample.output_text}}", "reference": "", "operation": "eq"},
    )
    drafts = [{"components": [{"name": "part", "grader": grader}]} for grader in graders]
    body = {"definitions": [{"definition": draft} for draft in drafts], "probes": True}
    body["samples"] = [{"output_text": text, "item": {"prompt": "12+12=", "answer": "24"}} for text in ("24", "25", "")]
    job = api.post("/rewards/bench", body)["id"]
    wait_until(lambda: api.get(f"/rewards/bench/{job}")["state"] == "done", 240, installation.log_tail)
    return reward["id"], job
