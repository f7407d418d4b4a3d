/** A schema with every shape that the run spec has. Used by tests only. */
import type { JsonSchema } from "@/api/model";

export const SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    curriculum: {
      oneOf: [{ $ref: "#/$defs/Uniform" }, { $ref: "#/$defs/Band" }],
      discriminator: { propertyName: "type", mapping: { uniform: "#/$defs/Uniform", band: "#/$defs/Band" } },
      default: { type: "uniform" },
    },
    sources: { type: "array", items: { $ref: "#/$defs/Source" }, minItems: 1, maxItems: 2 },
    budget: { anyOf: [{ type: "integer", minimum: 0 }, { type: "null" }], default: null, unit: "tokens" },
    overlong: { anyOf: [{ $ref: "#/$defs/Overlong" }, { type: "null" }], default: null },
    rate: { type: "number", default: 0.0003, exclusiveMinimum: 0 },
    dtype: { enum: ["float32", "bfloat16"], type: "string", default: "float32" },
  },
  required: ["sources"],
  $defs: {
    Uniform: { type: "object", title: "Uniform", properties: { type: { const: "uniform", default: "uniform" } } },
    Band: {
      type: "object",
      title: "Difficulty band",
      description: "Prompts of a running pass rate.",
      formula: "a ≤ p ≤ b",
      properties: {
        type: { const: "band", default: "band" },
        low: { type: "number", default: 0.05, minimum: 0, maximum: 1 },
      },
    },
    Source: {
      type: "object",
      properties: { name: { type: "string" }, weight: { type: "number", default: 1 } },
      required: ["name"],
    },
    Overlong: { type: "object", title: "Overlong", properties: { buffer: { type: "integer", minimum: 1 } } },
  },
};
