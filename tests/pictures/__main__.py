"""``python -m tests.pictures [NAME …]``: take the pictures of docs/console, and that of the README, from an
installation of now; with names only those, such as ``"quality of rows"``.

A demo run is trained for some hundred steps and steered, so that every page has something to show.
"""

from __future__ import annotations

import os
import shutil
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from tests.pictures.scenes import Scene, scenes
from tests.support.browser import FLAGS, sign_in
from tests.support.installation import ROOT, Installation, wait_until
from tests.support.judge_endpoint import JudgeServer
from tests.support.pages import open_wholly, paths_of_pages

FOLDER = ROOT / "docs" / "console"
README = ROOT / "docs" / "images" / "run.png"
SCREENS = {"desk": (1440, 900), "phone": (390, 844)}
SCHEMES = ("light", "dark")
COLOURS = 64
"""Colours of a picture: text and lines stay sharp, and a page weighs a fifth."""
STEPS = 160


def main() -> None:
    """Take all of them anew, or those that are named."""
    named = sys.argv[1:]
    if not named:
        shutil.rmtree(FOLDER / "pictures", ignore_errors=True)
    (FOLDER / "pictures").mkdir(parents=True, exist_ok=True)
    model = JudgeServer()
    with Installation() as installation, sync_playwright() as playwright:
        runs = _train(installation)
        pages = {name: Scene(path, lambda page: None) for name, path in paths_of_pages(installation, runs).items()}
        pages |= scenes(installation, model)
        if unknown := set(named) - pages.keys():
            sys.exit(f"There is no {', '.join(sorted(unknown))}; there are {', '.join(pages)}.")
        chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for screen, (width, height) in SCREENS.items():
            for scheme in SCHEMES:
                page = _signed_in(browser, installation, width, height, scheme)
                for name, scene in pages.items():
                    if named and name not in named:
                        continue
                    open_wholly(page, scene.path)
                    scene.show(page)
                    _save(page, FOLDER / "pictures" / f"{slug(name)}-{screen}-{scheme}.png")
                    if (name, screen, scheme) == ("run, charts", "desk", "light"):
                        _save(page, README)
        browser.close()
    model.close()
    _write([name for name in pages if (FOLDER / "pictures" / f"{slug(name)}-desk-light.png").exists()])


def slug(name: str) -> str:
    """``run, charts`` as a part of a file's name."""
    return name.replace(", ", "-").replace(" ", "-").lower()


def _train(installation: Installation) -> list[str]:
    """The demo's run, steered on its way, and one that waits as a draft. Returns their ids."""
    api = installation.api
    spec = next(recipe for recipe in api.get("/spec/recipes")["data"] if recipe["name"] == "demo")["spec"]
    spec["schedule"]["steps"] = STEPS
    draft = {**spec, "optimizer": {**spec["optimizer"], "learning_rate": 1e-4}}
    waits = api.post("/runs", {"name": "A gentler rate", "spec": draft, "start": False})["id"]
    run: str = api.post("/runs", {"name": "Arithmetic with a budget", "spec": spec, "start": True})["id"]

    def steered(at_step: int, target: str, value: Any, reason: str) -> None:
        wait_until(lambda: api.get(f"/runs/{run}")["step"] >= at_step, 300, installation.log_tail)
        revision = api.get(f"/runs/{run}")["revision"]
        body = {"target": target, "value": value, "reason": reason}
        api.post(f"/runs/{run}/controls", body, **{"If-Match": f'"{revision}"'})

    steered(50, "thinking.budget", 12, "what does thinking buy?")
    steered(100, "optimizer.learning_rate", spec["optimizer"]["learning_rate"] / 2, "calmer towards the end")
    wait_until(lambda: api.get(f"/runs/{run}")["state"] == "succeeded", 600, installation.log_tail)
    return [run, waits]


def _signed_in(browser: Browser, installation: Installation, width: int, height: int, scheme: Any) -> Page:
    context = browser.new_context(
        base_url=installation.url,
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    context.set_default_timeout(60_000)
    page = context.new_page()
    sign_in(page)
    return page


def _save(page: Page, to: Path) -> None:
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(to, optimize=True)


def _write(names: list[str]) -> None:
    """The page that shows them."""
    lines = [
        "# The console in pictures",
        "",
        "Every page at 1440 and at 390 pixels, light and dark. `make pictures` takes them from an installation of its",
        "own, in which a demo run was trained and steered. `python -m tests.pictures` with names takes those alone.",
    ]
    for name in names:
        lines += ["", f"## {name[0].upper()}{name[1:]}", ""]
        lines += ["| | Light | Dark |", "|---|---|---|"]
        for screen in SCREENS:
            files = (f"pictures/{slug(name)}-{screen}-{scheme}.png" for scheme in SCHEMES)
            lines.append(f"| {screen} | " + " | ".join(f"![{name}, {screen}]({file})" for file in files) + " |")
    (FOLDER / "README.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
