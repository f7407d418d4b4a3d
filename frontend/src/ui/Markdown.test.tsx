import { cleanup, screen } from "@testing-library/react";
import { beforeAll, expect, it, vi } from "vitest";
import { renderWith } from "@/test/render";
import { Markdown } from "./Markdown";
import { isReadable } from "./markdown-bounds";
import { formulaAt, withFormulas, withoutFormulas } from "./markdown-source";

// Until the libraries have come, the source is shown, in which some texts stand as well.
beforeAll(async () => {
  await import("./DrawnMarkdown");
  renderWith(<Markdown># Drawn</Markdown>);
  await screen.findByRole("heading", { name: "Drawn" });
  cleanup();
});

it("draws headings below the page's own, lists and tables", async () => {
  renderWith(<Markdown>{"# One\n\n- a\n- b\n\n| h | i |\n|---|---|\n| 1 | 2 |"}</Markdown>);
  expect(await screen.findByRole("heading", { level: 2, name: "One" })).toBeTruthy();
  expect(screen.getAllByRole("listitem")).toHaveLength(2);
  expect(screen.getByRole("columnheader", { name: "h" })).toBeTruthy();
});

it("leaves no level of headings out", async () => {
  renderWith(<Markdown>{"### a\n\n## b\n\n#### c\n\n## d\n\n# e\n\n## f"}</Markdown>);
  await screen.findByRole("heading", { name: "a" });
  const levels = screen.getAllByRole("heading").map(heading => heading.tagName + heading.textContent);
  expect(levels).toEqual(["H2a", "H2b", "H3c", "H2d", "H2e", "H3f"]);
});

it("shows HTML as text, follows no script, and loads no picture", async () => {
  const { container } = renderWith(
    <Markdown>
      {"<b>raw</b> <img src=x onerror=alert(1)> [bad](javascript:alert(1)) ![pic](https://example.com/a.png)"}
    </Markdown>,
  );
  expect(await screen.findByText(/<b>raw<\/b>/)).toBeTruthy();
  expect(container.querySelector("b, img, script")).toBeNull();
  expect(screen.getAllByRole("link").map(link => link.textContent)).toEqual(["pic"]);
  expect(screen.getByRole("link", { name: "pic" }).getAttribute("href")).toBe("https://example.com/a.png");
});

it("draws formulas whose signs Markdown would eat, and no money", async () => {
  const { container } = renderWith(<Markdown>{"$a*b*c$ of $\\{x\\}$ for $5 and $10\n\n$$\n\\hat{A}_i\n$$"}</Markdown>);
  await screen.findByText(/for \$5 and \$10/);
  expect(container.querySelectorAll("math")).toHaveLength(3);
  expect(container.querySelector("em")).toBeNull();
});

it("draws code in its language, and no formula in code", async () => {
  const { container } = renderWith(<Markdown>{"`$HOME/$PATH`\n\n```python\nreturn 1\n```"}</Markdown>);
  expect(await screen.findByText("$HOME/$PATH")).toBeTruthy();
  expect(container.querySelector("math")).toBeNull();
  expect(container.querySelector(".hljs-keyword")?.textContent).toBe("return");
});

it("finds the formula of a mark, and none for other code", () => {
  const { markdown, formulas } = withoutFormulas("a $x$ `b`");
  const code = /`([^`]+)`/.exec(markdown)?.[1] ?? "";
  expect(formulaAt(code, formulas)?.tex).toBe("x");
  expect(formulaAt("b", formulas)).toBeUndefined();
});

it("gives formulas back where they turn out to stand in HTML or in code", async () => {
  const text = "a $x$\n\n<td title='$y$'>$z$</td>\n\n    indented $v$ and $w$";
  const { markdown, formulas } = withoutFormulas(text);
  expect(withFormulas(markdown, formulas)).toBe(text);
  const { container } = renderWith(<Markdown>{text}</Markdown>);
  expect(await screen.findByText("indented $v$ and $w$")).toBeTruthy();
  expect(container.textContent).toContain("<td title='$y$'>");
  expect(container.textContent).not.toMatch(/[\uE000-\uE002]/);
});

it("keeps the footnotes of two texts apart, and says what a box is", async () => {
  const text = "Seen[^1].\n\n[^1]: Once.\n\n- [x] done";
  const { container } = renderWith(
    <>
      <Markdown>{text}</Markdown>
      <Markdown>{text}</Markdown>
    </>,
  );
  expect(await screen.findAllByText("Once.")).toHaveLength(2);
  const places = screen.getAllByRole("link", { name: "1" }).map(link => link.getAttribute("href") ?? "");
  expect(new Set(places).size).toBe(2);
  for (const place of places) expect(document.getElementById(place.slice(1))?.textContent).toContain("Once.");
  expect(container.querySelector("a[target]")).toBeNull();
  expect(screen.getAllByRole("checkbox", { name: "To do", checked: true })).toHaveLength(2);
});

it.each([
  ["quotes", ">".repeat(20_000)],
  ["lists", "1. ".repeat(6_000)],
  ["quotes and lists", "> - ".repeat(5_000)],
  ["emphasis", "*".repeat(10_000) + "a" + "*".repeat(9_999)],
  ["emphasis in emphasis", "*a **b ".repeat(1_400) + "b** a* ".repeat(1_400)],
])("does not read %s without end", (_, text) => {
  expect(isReadable(text)).toBe(false);
});

it.each([
  ["many cells that nobody wrote", "|a".repeat(2_500) + "|\n" + "|-".repeat(2_500) + "|\n" + "|\n".repeat(4_000)],
  ["a hundred quotes", Array.from({ length: 120 }, (_, at) => "  ".repeat(at) + "- a").join("\n")],
])("shows the source of %s, and the rest of the page", async (_, text) => {
  const said = vi.spyOn(console, "error").mockImplementation(() => {});
  renderWith(
    <>
      <Markdown>{text}</Markdown>
      <p>The rest</p>
    </>,
  );
  expect(await screen.findByText(/Its source is shown/)).toBeTruthy();
  expect(screen.getByText("The rest")).toBeTruthy();
  said.mockRestore();
});

it("draws what people write", () => {
  expect(isReadable("- a\n  - b\n    - **c**\n\n> quoted\n\n---\n\n* * *\n\n" + "| **a** | *b* |\n".repeat(100))).toBe(
    true,
  );
});
