import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it } from "vitest";
import { renderWith } from "@/test/render";
import { coloured, formula } from "./DrawnParts";
import { elements } from "./elements";
import { Written } from "./Written";

beforeEach(() => localStorage.clear());

it("draws formulas and code, and shows the source at a click, which is remembered", async () => {
  const text = "Half: $\\frac{1}{2}$\n```python\nreturn 1\n```";
  const view = renderWith(<Written label="Prompt">{text}</Written>);
  const region = screen.getByRole("region", { name: "Prompt" });
  await expect.poll(() => region.querySelector("mfrac")).toBeTruthy();
  expect(region.querySelector(".hljs-keyword")?.textContent).toBe("return");
  await userEvent.click(screen.getByRole("button", { name: "Show source" }));
  expect(region.textContent).toBe(text);
  view.unmount();
  renderWith(<Written label="Another">{"$y$"}</Written>);
  expect(screen.getByRole("region", { name: "Another" }).textContent).toBe("$y$");
  expect(screen.getByRole("button", { name: "Render formulas and code" })).toBeTruthy();
});

it("offers nothing where there is nothing to draw", () => {
  renderWith(<Written label="Prompt">Ann has $5 and Bob $6.</Written>);
  expect(screen.queryByRole("button")).toBeNull();
});

it("shows the source of a formula that cannot be read", async () => {
  renderWith(<Written label="Prompt">{"$\\frac{1$ and $x$"}</Written>);
  expect(await screen.findByTitle("Invalid formula; its source is shown.")).toBeTruthy();
});

/** What a person's browser holds of what a library wrote. */
const drawn = (markup: string | null) => renderWith(<div>{elements(markup ?? "")}</div>).container;

it.each(['<img src=x onerror="alert(1)">', "</math><script>alert(1)</script>"])("makes no markup of %s", hostile => {
  for (const markup of [coloured(hostile, "xml"), coloured(hostile, ""), formula(`\\text{${hostile}}`, false)])
    expect(drawn(markup).querySelector("img, script")).toBeNull();
  expect(drawn(coloured(hostile, "")).textContent).toContain(hostile);
});

it.each(["\\href{javascript:alert(1)}{x}", "\\includegraphics{https://a.example/b.png}", "\\htmlClass{a}{b}"])(
  "obeys no %s",
  tex => expect(drawn(formula(tex, false)).querySelector("a, img, [href], [src], .a")).toBeNull(),
);

it("takes no element and no attribute over that no formula has, whatever a library writes", () => {
  const hostile =
    '<math><mi onclick="alert(1)" href="javascript:alert(1)" style="position:fixed" mathvariant="bold">x</mi>' +
    '<maction actiontype="statusline">y</maction></math><iframe></iframe><img alt="">';
  const kept = drawn(hostile).querySelector("mi");
  expect(kept?.getAttributeNames()).toEqual(["mathvariant"]);
  expect(drawn(hostile).querySelector("iframe, img, maction")).toBeNull();
});

it("draws every part of a formula", () => {
  const tex = "\\sum_{i=1}^{n} \\sqrt[3]{x_i} = \\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}";
  const box = drawn(formula(tex, true));
  const names = ["munderover", "mroot", "msub", "mtable", "mtr", "mtd"];
  expect(names.filter(name => !box.querySelector(name))).toEqual([]);
  expect(box.querySelector("math")?.getAttribute("display")).toBe("block");
  expect(box.querySelector("math")?.namespaceURI).toBe("http://www.w3.org/1998/Math/MathML");
  expect(box.querySelector("annotation")).toBeNull();
});

it("gives up formulas that expand without end", () => {
  expect(formula("\\def\\a{\\a\\a}\\a", false)).toBeNull();
});
