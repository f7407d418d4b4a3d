import { expect, it } from "vitest";
import type { JsonSchema } from "@/api/model";
import { definitionOf, templates } from "./templates";

const SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    components: { type: "array", minItems: 1, items: { $ref: "#/$defs/Component" } },
    success_threshold: { type: "number", default: 0.5 },
  },
  $defs: {
    Component: {
      type: "object",
      properties: { name: { type: "string" }, weight: { type: "number", default: 1 }, grader: { type: "object" } },
    },
  },
};

it("begins with one part that has a name where no template fills it", () => {
  const made = definitionOf(templates[0], SCHEMA);
  expect(made.components).toHaveLength(1);
  expect(made.components).toMatchObject([{ name: "correct", weight: 1 }]);
});

it("shows the defaults of what a template leaves out, and what it says", () => {
  const made = definitionOf(
    templates.find(one => one.id === "maths-format"),
    SCHEMA,
  );
  expect(made.success_threshold).toBe(1);
  expect(made.components).toMatchObject([
    { name: "correct", weight: 1, grader: { type: "math" } },
    { name: "form", weight: 0.1, grader: { type: "format" } },
  ]);
});
