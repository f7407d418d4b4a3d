import { expect, it } from "vitest";
import type { Json, JsonSchema, Spec } from "@/api/model";
import { completed, HEAD, schemaFor, withObjective } from "./objectiveSpec";

const number = (value: number): JsonSchema => ({ type: "number", default: value });
const object = (properties: Record<string, JsonSchema>): JsonSchema => ({ type: "object", properties });
const union = (...tags: string[]): JsonSchema => ({
  oneOf: tags.map(tag => ({ $ref: `#/$defs/${tag}` })),
  discriminator: { propertyName: "type" },
  default: { type: tags[0] ?? "" },
});
const member = (tag: string, properties: Record<string, JsonSchema> = {}) =>
  object({ type: { const: tag, default: tag }, ...properties });

const ENTROPY = { type: "metric_bound", metric: "actor/entropy", min: 0.05 };
const SPIKE = { type: "metric_change", metric: "actor/grad_norm", max_rise: 9 };
const FALLS = { type: "held_out_falls", metric: "critic/score/mean" };

const SCHEMA: JsonSchema = {
  ...object({
    policy: object({ base: { type: "string" }, routing: { $ref: "#/$defs/Routing" } }),
    data: object({ sources: { type: "array", items: {} }, sft: { anyOf: [{ type: "null" }], default: null } }),
    objective: union("rl", "sft", "preference"),
    reward: object({ definition: { type: "string" } }),
    rollout: object({ temperature: number(1), engine: object({ max_model_len: number(4096) }) }),
    precision: union("float32", "unified"),
    parallelism: object({
      rollout_workers: number(1),
      learner_ranks: number(1),
      max_tokens_per_microbatch: number(16_384),
    }),
    schedule: object({ steps: number(100), epochs: number(1) }),
    guards: { type: "array", items: {}, default: [ENTROPY, SPIKE, FALLS] as unknown as Json },
    evaluation: object({ every_steps: number(10), samples_per_prompt: number(1) }),
  }),
  $defs: {
    Routing: object({ replay: { type: "boolean", default: false }, balancing: number(0) }),
    rl: member("rl"),
    sft: member("sft", { completion: { type: "string", default: "completion" }, max_tokens: number(2048) }),
    preference: member("preference", { chosen: { type: "string", default: "chosen" }, max_tokens: number(2048) }),
    float32: member("float32"),
    unified: member("unified"),
  },
};

const RL = completed(SCHEMA, {
  policy: { base: "starter", routing: { replay: true } },
  data: { sources: [{ name: "sums" }], sft: { dataset: "worked@1" } },
  reward: { definition: "exact@1" },
  rollout: { temperature: 0.7, engine: { max_model_len: 96 } },
  precision: { type: "unified" },
  parallelism: { rollout_workers: 4, learner_ranks: 2 },
  schedule: { steps: 300, epochs: 2 },
  evaluation: { every_steps: 20, samples_per_prompt: 8 },
});

it("keeps what both objectives have, and drops the rest with its values", () => {
  const spec = withObjective(SCHEMA, RL, "sft");
  expect(spec).toEqual({
    policy: { base: "starter", routing: { balancing: 0 } },
    data: { sources: [{ name: "sums" }] },
    objective: { type: "sft", completion: "completion", max_tokens: 96 },
    precision: { type: "float32" },
    parallelism: { learner_ranks: 2, max_tokens_per_microbatch: 16_384 },
    schedule: { steps: 300 },
    guards: [SPIKE],
    evaluation: { every_steps: 20 },
  });
});

it("puts back what was dropped, and keeps what was changed meanwhile", () => {
  const sft = withObjective(SCHEMA, RL, "sft");
  const changed = { ...sft, schedule: { steps: 50 }, guards: [] };
  const back = withObjective(SCHEMA, changed, "rl", RL);
  expect(back).toEqual({ ...RL, schedule: { steps: 50, epochs: 2 } });
});

it("gives a run that began with examples the defaults of reinforcement learning", () => {
  const sft = completed(SCHEMA, { policy: { base: "starter" }, objective: { type: "sft" } });
  expect(sft.guards).toEqual([SPIKE]);
  expect(Object.keys(sft)).not.toContain("rollout");
  const rl = withObjective(SCHEMA, sft, "rl");
  expect(rl).toMatchObject({ objective: { type: "rl" }, reward: { definition: "" }, guards: [ENTROPY, SPIKE, FALLS] });
});

it("leaves room for both completions of a pair, and keeps guards between objectives of rows", () => {
  const long = {
    ...RL,
    rollout: { engine: { max_model_len: 4096 } },
    parallelism: { max_tokens_per_microbatch: 1024 },
  };
  expect(withObjective(SCHEMA, long, "preference").objective).toMatchObject({ chosen: "chosen", max_tokens: 512 });
  const own = { type: "metric_bound", metric: "sft/loss", max: 4 };
  const sft = { ...withObjective(SCHEMA, RL, "sft"), guards: [own] };
  expect(withObjective(SCHEMA, sft, "preference")).toMatchObject({ guards: [own], objective: { max_tokens: 96 } });
});

it("changes nothing under the same objective, or where the platform knows but one", () => {
  expect(withObjective(SCHEMA, RL, "rl")).toBe(RL);
  const old = { ...SCHEMA, properties: { schedule: SCHEMA.properties?.schedule ?? {} } };
  const spec: Spec = { schedule: { steps: 1 } };
  expect(withObjective(old, spec, "sft")).toBe(spec);
});

it("shows the form of an objective only what it uses", () => {
  expect(schemaFor(SCHEMA, "rl")).toBe(SCHEMA);
  const { properties = {} } = schemaFor(SCHEMA, "preference");
  expect(Object.keys(properties).filter(name => !HEAD.includes(name))).toEqual([]);
  expect(Object.keys(properties.parallelism?.properties ?? {})).toEqual(["learner_ranks", "max_tokens_per_microbatch"]);
  expect(Object.keys(properties.policy?.properties?.routing?.properties ?? {})).toEqual(["balancing"]);
  expect(properties.precision?.oneOf).toEqual([{ $ref: "#/$defs/float32" }]);
});
