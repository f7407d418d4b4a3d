import { expect, it } from "vitest";
import { exportedText, fenced, plainLine } from "./exportedText";

it.each([
  ["# Found\n\nIt *rises* by $a<b>c$: `<b>` and <https://example.com> or [here](/runs/run_1).\n\n```\n<i>\n```"],
  ["| a | b |\n|---|---|\n| 1 | [x](https://example.com/a?b=c) |"],
])("leaves what means no harm as it is", text => {
  expect(exportedText(text)).toBe(text);
});

it.each([
  ["HTML in a line", "a <b>bold</b>", "a \\<b>bold\\</b>"],
  ["HTML of its own", "<script>\nalert(1)\n</script>", "\\<script>\nalert(1)\n\\</script>"],
  ["links to scripts", "[x](javascript:alert(1))", "\\[x](javascript:alert(1))"],
  ["pictures of scripts", "![x](javascript:alert(1))", "\\!\\[x](javascript:alert(1))"],
  ["addresses of scripts", "<javascript:alert(1)>", "\\<javascript:alert(1)>"],
  ["scripts under a name", "[x][y]\n\n[y]: javascript:alert(1)", "[x][y]\n\n\\[y]: javascript:alert(1)"],
  ["code that is none in a table", "| a | b | c |\n|---|---|---|\n| ` | <u> | ` |", undefined],
  ["code that ends earlier than it seemed", "<!-- ` -->\n`<img src=x onerror=alert(1)>` more", undefined],
])("makes text of %s", (_, text, written) => {
  const found = exportedText(text);
  if (written !== undefined) expect(found).toBe(written);
  else expect(found.replaceAll("\\<", "")).not.toContain("<");
  expect(exportedText(found)).toBe(found);
});

it("lays what nobody could read into a fence that it cannot leave", () => {
  const deep = ">".repeat(100);
  expect(exportedText(deep)).toBe(`\`\`\`\n${deep}\n\`\`\``);
  expect(fenced("a ````` b")).toBe("``````\na ````` b\n``````");
});

it("takes the meaning from the signs of a name", () => {
  expect(plainLine("a_b *c* [d](e) <f>|\n&lt;")).toBe("a_b \\*c\\* \\[d\\](e) \\<f\\>\\| \\&lt;");
  expect([plainLine("# a"), plainLine("1. a"), plainLine(" - a"), plainLine("_a_")]).toEqual([
    "\\# a",
    "1\\. a",
    "\\- a",
    "\\_a\\_",
  ]);
  expect([plainLine("0.75 @ 2"), plainLine("-1.5"), plainLine("critic/score/mean")]).toEqual([
    "0.75 @ 2",
    "-1.5",
    "critic/score/mean",
  ]);
});
