import { expect, it } from "vitest";
import { MAX_DRAWN, MAX_LENGTH, parts } from "./written-parts";

/** Kinds of the parts with what is drawn of them; texts are left out. */
const drawn = (text: string) =>
  parts(text).flatMap(part =>
    part.kind === "text"
      ? []
      : [part.kind === "code" ? `${part.language}:${part.code}` : (part.display ? "D " : "") + part.tex],
  );

it.each([
  ["so $x^2$ and $y$.", ["x^2", "y"]],
  ["$$a\n+b$$", ["D a\n+b"]],
  [String.raw`\(a\) or \[b\]`, ["a", "D b"]],
  [String.raw`The answer is \boxed{\frac{1}{2}}.`, [String.raw`\boxed{\frac{1}{2}}`]],
  [String.raw`$\boxed{3}$`, [String.raw`\boxed{3}`]],
  [String.raw`\begin{align*}a&=b\\c&=d\end{align*}`, [String.raw`D \begin{align*}a&=b\\c&=d\end{align*}`]],
  ["```python\nprint('$5')\n```", ["python:print('$5')"]],
  ["~~~\na ``` b\n~~~", [":a ``` b"]],
  ["````\n```\nin\n```\n````\n$z$", [":```\nin\n```", "z"]],
  [String.raw`$\$5+x$`, [String.raw`\$5+x`]],
])("draws what is a formula or code: %j", (text, expected) => {
  expect(drawn(text)).toEqual(expected);
});

it.each([
  "She has $5 and gives him $10 of it.",
  "It costs $3. He paid $4.",
  "$5-$10, or $20/$30",
  "a $ b $ c",
  String.raw`costs \$5, or \$6`,
  "`inline` and ``two``",
  "```python\nnever closed",
  "cd ~/work && ls ~/other",
  String.raw`\boxed{never closed`,
  String.raw`\n is a newline, C:\dir\[file`,
  "$$",
  "$a\nb$",
  "$ $",
  "",
])("leaves what is none: %j", text => {
  expect(parts(text)).toEqual([{ kind: "text", text }]);
});

it("keeps every sign of the text", () => {
  const text = "a $x$ b\n```js\nlet y\n```\n\\boxed{2} and $7 \\(z\\) $$w$$ end";
  expect(
    parts(text)
      .map(part => part.text)
      .join(""),
  ).toBe(text);
});

it("stays bounded, whatever the text", () => {
  expect(parts("$x$".repeat(MAX_LENGTH))).toHaveLength(1);
  const many = parts("$x$ ".repeat(5_000));
  expect(many.filter(part => part.kind === "math")).toHaveLength(MAX_DRAWN);
  for (const hostile of [
    "$".repeat(90_000),
    "\\(".repeat(45_000),
    "```\n".repeat(22_000),
    "\\boxed{".repeat(12_000),
    "$a".repeat(45_000),
  ]) {
    expect(
      parts(hostile)
        .map(part => part.text)
        .join(""),
    ).toBe(hostile);
  }
});

it("draws a formula that ends with a sign of its own", () => {
  expect(parts("of $\\{x\\}$ for $5 and \\$6").map(part => part.kind)).toEqual(["text", "math", "text"]);
});
