"""Every page of the console, by a name and a path."""

from playwright.sync_api import Page, expect

from tests.support.installation import Installation, wait_until

UNDER_WAY = '[aria-busy="true"], .mantine-Skeleton-root, .mantine-Loader-root'
"""What a page shows in the place of something that is on its way."""
TABS = ("charts", "incidents", "rollouts", "events", "controls", "checkpoints", "config")
"""Those of a run."""


def open_wholly(page: Page, path: str) -> None:
    """Go to a page, and wait until all of it is there."""
    page.goto(path)
    page.wait_for_load_state("networkidle")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    # The network may be idle while the page still starts: what is on its way says so itself.
    expect(page.locator(UNDER_WAY)).to_have_count(0, timeout=30_000)


def paths_of_pages(installation: Installation) -> dict[str, str]:
    """A path for every page, with an object of each noun behind it."""
    api = installation.api
    runs = api.get("/runs")["data"]
    if not runs:
        spec = api.get("/spec/recipes")["data"][0]["spec"]
        runs = [api.post("/runs", {"name": "A draft", "spec": spec, "start": False})]
    run, dataset, reward = runs[0]["id"], api.get("/datasets")["data"][0]["id"], api.get("/rewards")["data"][0]["id"]
    policy = api.get("/policies")["data"][0]["id"]
    rubric, bench = _rubric_on_the_bench(installation)
    report = _report_of(installation, run)
    return {
        "home": "/",
        "runs": "/runs",
        "new run": "/runs/new",
        "compare": f"/runs/compare?runs={','.join(one['id'] for one in runs[:3])}",
        "reports": "/reports",
        "report": f"/reports/{report}",
        "report, written": f"/reports/{report}?edit=on",
        "report, before": f"/reports/{report}?revision=1",
        **{f"run, {tab}": f"/runs/{run}?tab={tab}" for tab in TABS},
        "datasets": "/datasets",
        "dataset": f"/datasets/{dataset}",
        **{f"dataset, {tab}": f"/datasets/{dataset}?tab={tab}" for tab in ("lab", "difficulty")},
        "difference of versions": f"/datasets/{_dataset_of_two_versions(installation)}?version=2&against=1",
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


def _dataset_of_two_versions(installation: Installation) -> str:
    """A dataset whose second version lacks a row of the first."""
    api = installation.api
    found = next((one for one in api.get("/datasets")["data"] if one["latest_version"]["number"] > 1), None)
    if found is not None:
        return str(found["id"])
    dataset = api.get("/datasets")["data"][0]["id"]
    row = api.get(f"/datasets/{dataset}/versions/1/rows", limit=1)["data"][0]["id"]
    operation = {"name": "edit", "changes": [{"op": "remove", "id": row}]}
    made = api.post(f"/datasets/{dataset}/versions/1/derive", {"operation": operation, "into": {"name": "A copy"}})
    copy = made["results"][0]["dataset_id"]
    row = api.get(f"/datasets/{copy}/versions/1/rows", limit=1)["data"][0]["id"]
    operation["changes"] = [{"op": "remove", "id": row}]
    api.post(f"/datasets/{copy}/versions/1/derive", {"operation": operation})
    return str(copy)


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
    """A reward with a rubric, whose judge nobody has set up, and a bench job of another that flips."""
    api = installation.api
    if not any(judge["slug"] == "default" for judge in api.get("/judge-endpoints")["data"]):
        api.post(
            "/judge-endpoints",
            {"name": "House judge", "slug": "default", "base_url": "http://127.0.0.1:9/v1", "model": "judge"},
        )
    items = [{"name": "correct", "description": "The answer is right.", "weight": 2}]
    items.append({"name": "invents", "description": "The answer invents facts.", "weight": -1})
    component = {"name": "quality", "grader": {"type": "rubric", "items": items}}
    reward = api.post("/rewards", {"name": "With a rubric", "definition": {"components": [component]}})
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
