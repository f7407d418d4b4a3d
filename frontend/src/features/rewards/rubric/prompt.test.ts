import { describe, expect, it } from "vitest";
import { criteria, fillTemplate, type PreviewSample, questionCount } from "./prompt";

const SAMPLE: PreviewSample = {
  output_text: "<think>hm</think>\nParis",
  item: { prompt: "Capital of France?", answers: ["Paris", "paris"], meta: { level: 2 } },
};
const text = (template: string, sample = SAMPLE) =>
  fillTemplate(template, sample)
    .map(piece => piece.text)
    .join("");

describe("filling in", () => {
  it("takes the row as it is and puts marks around what the policy wrote", () => {
    expect(text("Task: {{ item.prompt }}\n{{sample.answer_text}}")).toBe(
      "Task: Capital of France?\n[mark]\nParis\n[mark]",
    );
    expect(text("{{sample.thinking_text}}|{{item.answers[1]}}|{{item.meta}}")).toBe(
      '[mark]\nhm\n[mark]|paris|{"level":2}',
    );
  });

  it("reads JSON output by path", () => {
    const sample = { output_text: '{"city": {"name": "Paris"}}', item: {} };
    expect(text("{{sample.output_json.city.name}}", sample)).toContain("Paris");
    expect(fillTemplate("{{sample.output_json.town}}", sample)).toEqual([
      { kind: "missing", text: "{{sample.output_json.town}}" },
    ]);
  });

  it("marks what finds nothing, and fills nothing in twice", () => {
    expect(fillTemplate("a {{item.none}} {{judge.x}}", SAMPLE).filter(piece => piece.kind === "missing")).toHaveLength(
      2,
    );
    const sly = { output_text: "", item: { prompt: "{{item.secret}}", secret: "x" } };
    expect(text("{{item.prompt}}", sly)).toBe("{{item.secret}}");
  });
});

describe("questions", () => {
  const items = [
    { name: "right", description: "The city is right.", weight: 2 },
    { name: "padding", description: "Pads.", weight: -1 },
  ];

  it("lists one criterion, or all in either order", () => {
    expect(criteria(items, 1)).toBe("1. padding: Pads.");
    expect(criteria(items, null)).toBe("1. right: The city is right.\n2. padding: Pads.");
    expect(criteria(items, null, true)).toBe("1. padding: Pads.\n2. right: The city is right.");
  });

  it("counts what is asked about one completion", () => {
    expect(questionCount(5, { mode: "separate", repeats: 1, swapOrder: false })).toBe(5);
    expect(questionCount(5, { mode: "together", repeats: 3, swapOrder: true })).toBe(6);
    expect(questionCount(0, { mode: "together", repeats: 3, swapOrder: false })).toBe(0);
  });
});
