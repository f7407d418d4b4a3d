import { describe, expect, it } from "vitest";
import { reread, textFor, written } from "./textDraft";

const SPEC = { schedule: { steps: 40 }, rate: 0.1 };

describe("a text", () => {
  it("is read as what it says, and keeps what it said last while it cannot be read", () => {
    const typed = reread(written(SPEC, "yaml"), { text: "schedule: {steps: 41}" });
    expect(typed).toMatchObject({ fault: null, spec: { schedule: { steps: 41 } } });
    const broken = reread(typed, { text: "schedule: {steps: 42" });
    expect(broken.fault).toContain("line 1");
    expect(broken.spec).toBe(typed.spec);
    expect(reread(broken, { text: "schedule: {steps: 42}" })).toMatchObject({
      fault: null,
      spec: { schedule: { steps: 42 } },
    });
  });

  it.each(["", "- a\n- b", "just words", "a: 1\na: 2", "a: [1"])("that is no object is refused: %j", text =>
    expect(reread(written(SPEC, "yaml"), { text }).fault).toBeTruthy(),
  );

  it("of the other format is read once the format is chosen", () => {
    const yaml = reread(written(SPEC, "json"), { text: "rate: 0.2" });
    expect(yaml.fault).toBeTruthy();
    expect(reread(yaml, { format: "yaml" })).toMatchObject({ text: "rate: 0.2", fault: null, spec: { rate: 0.2 } });
  });
});

it("is shown as it was typed until another place has changed the spec", () => {
  const typed = reread(written(SPEC, "yaml"), { text: "# why\nrate: 0.2" });
  expect(textFor(typed.spec, typed)).toBe(typed);
  expect(textFor({ rate: 0.3 }, typed).text).toBe("rate: 0.3\n");
  const broken = reread(typed, { text: "rate: [" });
  expect(textFor(SPEC, broken)).toBe(broken);
  expect(textFor(SPEC, null).text).toBe("schedule:\n  steps: 40\nrate: 0.1\n");
});
