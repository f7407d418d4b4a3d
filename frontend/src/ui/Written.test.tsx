import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it } from "vitest";
import { renderWith } from "@/test/render";
import { coloured, formula } from "./DrawnParts";
import { Written } from "./Written";

beforeEach(() => localStorage.clear());

it("draws formulas and code, and shows the source at a click, which is remembered", async () => {
  const text = "Half: $\\frac{1}{2}$\n```python\nreturn 1\n```";
  const view = renderWith(<Written label="Prompt">{text}</Written>);
  const region = screen.getByRole("region", { name: "Prompt" });
  await expect.poll(() => region.querySelector("mfrac")).toBeTruthy();
  expect(region.querySelector(".hljs-keyword")?.textContent).toBe("return");
  await userEvent.click(screen.getByRole("button", { name: "Show the source" }));
  expect(region.textContent).toBe(text);
  view.unmount();
  renderWith(<Written label="Another">{"$y$"}</Written>);
  expect(screen.getByRole("region", { name: "Another" }).textContent).toBe("$y$");
  expect(screen.getByRole("button", { name: "Draw formulas and code" })).toBeTruthy();
});

it("offers nothing where there is nothing to draw", () => {
  renderWith(<Written label="Prompt">Ann has $5 and Bob $6.</Written>);
  expect(screen.queryByRole("button")).toBeNull();
});

it("shows the source of a formula that cannot be read", async () => {
  renderWith(<Written label="Prompt">{"$\\frac{1$ and $x$"}</Written>);
  expect(await screen.findByTitle("This formula cannot be read; its source is shown.")).toBeTruthy();
});

it.each(['<img src=x onerror="alert(1)">', "</math><script>alert(1)</script>"])("makes no markup of %s", hostile => {
  for (const html of [coloured(hostile, "xml"), coloured(hostile, ""), formula(`\\text{${hostile}}`, false) ?? ""]) {
    const box = document.createElement("div");
    box.innerHTML = html;
    expect(box.querySelector("img, script")).toBeNull();
  }
});

it.each(["\\href{javascript:alert(1)}{x}", "\\includegraphics{https://a.example/b.png}", "\\htmlClass{a}{b}"])(
  "obeys no %s",
  tex => {
    const html = formula(tex, false) ?? "";
    const box = document.createElement("div");
    box.innerHTML = html;
    expect(box.querySelector("a, img, [href], [src]")).toBeNull();
  },
);

it("gives up formulas that expand without end", () => {
  expect(formula("\\def\\a{\\a\\a}\\a", false)).toBeNull();
});
