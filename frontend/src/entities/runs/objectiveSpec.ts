/** The spec under another objective: the sections that it shares, without those that it has no use for. */
import type { Json, JsonSchema, Spec } from "@/api/model";
import { isOfExamples, type Objective, objectiveOf } from "./objective";
import { getIn, type Path, setIn } from "@/features/schema-form/pointer";
import { discriminator, isObject, kindOf, resolve, variants, withDefaults } from "@/features/schema-form/schema";
import sections from "./sections.json";

/** Sections that every run has. All others belong to reinforcement learning. */
export const HEAD: readonly string[] = sections.shared;

/** Fields of these sections that only reinforcement learning uses. */
const UNUSED: readonly string[][] = sections.unused.map(path => path.split("."));

/** Number formats that make learner and engine agree: there is no engine. */
const ENGINE_PRECISION = "unified";

/** The schema without sections and fields that the objective has no use for. */
export function schemaFor(schema: JsonSchema, objective: Objective): JsonSchema {
  if (objective === "rl" || !schema.properties) return schema;
  const head = Object.entries(schema.properties).filter(([name]) => HEAD.includes(name));
  const shared = { ...schema, properties: Object.fromEntries(head) };
  return UNUSED.reduce((at, path) => withoutField(at, path, schema), withoutVariant(shared, "precision", schema));
}

function withoutField(schema: JsonSchema, path: readonly string[], root: JsonSchema): JsonSchema {
  const [name = "", ...rest] = path;
  const found = resolve(schema, root);
  const property = found.properties?.[name];
  if (!property) return schema;
  if (rest.length === 0) return { ...found, properties: omit(found.properties ?? {}, name) };
  return { ...found, properties: { ...found.properties, [name]: withoutField(property, rest, root) } };
}

function withoutVariant(schema: JsonSchema, name: string, root: JsonSchema): JsonSchema {
  const property = schema.properties?.[name];
  if (!property) return schema;
  const found = resolve(property, root);
  if (kindOf(found) !== "union") return schema;
  const tags = variants(found, root).map(one => one.tag);
  const oneOf = (found.oneOf ?? []).filter((_, place) => tags[place] !== ENGINE_PRECISION);
  return { ...schema, properties: { ...schema.properties, [name]: { ...found, oneOf } } };
}

/** Sections of `spec` that its objective has no use for: a text may name them. */
export function strayOf(schema: JsonSchema, spec: Spec): string[] {
  if (objectiveOf(spec) === "rl") return [];
  return Object.keys(spec).filter(name => schema.properties?.[name] !== undefined && !HEAD.includes(name));
}

/** `spec` without some of its sections. */
export function withoutSections(spec: Spec, names: string[]): Spec {
  return names.reduce<Record<string, Json>>((at, name) => omit(at, name), spec);
}

/** `spec` with the defaults of everything that its objective leaves out. */
export function completed(schema: JsonSchema, spec: Json): Spec {
  const objective = objectiveOf(spec);
  const whole = withDefaults(schemaFor(schema, objective), schema, spec) as Spec;
  // The schema's default is that of reinforcement learning.
  const bare = objective !== "rl" && getIn(spec, ["guards"]) === undefined && whole.guards !== undefined;
  return bare ? { ...whole, guards: guardsOfExamples(whole.guards) } : whole;
}

/**
 * `spec` for another objective. Policy, data, schedule and all else that both have stays; sections that the new one has
 * no use for are dropped, with their values.
 *
 * @param before a spec of the new objective that was left for another one, whose own sections are put back
 */
export function withObjective(schema: JsonSchema, spec: Spec, objective: Objective, before?: Spec): Spec {
  const from = objectiveOf(spec);
  if (from === objective || !schema.properties?.objective) return spec;
  const shared = UNUSED.reduce<Json>(
    withoutValue,
    Object.fromEntries(Object.entries(spec).filter(([name]) => HEAD.includes(name))) as Json,
  ) as Spec;
  if (isEngines(shared.precision)) delete shared.precision;
  const own = { ...before, ...shared, objective: before?.objective ?? firstObjective(schema, spec, objective) };
  return completed(schema, objective === "rl" ? ownOfRl(own, before) : ownOfExamples(own, from));
}

function ownOfExamples(spec: Spec, from: Objective): Json {
  return from === "rl" && spec.guards !== undefined ? { ...spec, guards: guardsOfExamples(spec.guards) } : spec;
}

/** With the fields of shared sections that only this objective has, as they were. */
function ownOfRl(spec: Spec, before: Spec | undefined): Json {
  const rest = omit(spec, "guards") as Spec;
  if (!before) return rest; // with the default guards
  const fields = UNUSED.reduce<Json>((at, path) => {
    const value = getIn(before, [...path]);
    return value === undefined || !isObject(getIn(at, path.slice(0, -1))) ? at : setIn(at, [...path], value);
  }, rest);
  const engines = isEngines(before.precision) ? { precision: before.precision as Json } : {};
  return { ...(fields as Spec), ...engines, guards: before.guards ?? [] } as Json;
}

const isEngines = (precision: Json | undefined) => isObject(precision) && precision.type === ENGINE_PRECISION;

function withoutValue(value: Json, path: readonly string[]): Json {
  const [name = "", ...rest] = path;
  if (!isObject(value) || !(name in value)) return value;
  if (rest.length > 0) return { ...value, [name]: withoutValue(value[name] as Json, rest) };
  return omit(value, name);
}

function omit<T>(object: Record<string, T>, name: string): Record<string, T> {
  return Object.fromEntries(Object.entries(object).filter(([one]) => one !== name));
}

/** Guards on metrics that the run reports. The fall of held-out rewards is none of them. */
function guardsOfExamples(guards: Json | undefined): Json {
  if (!Array.isArray(guards)) return [];
  return guards.filter(guard => isObject(guard) && guard.type !== "held_out_falls" && isOfExamples(guard.metric));
}

/** The objective's defaults, with sequences no longer than those that the spec had room for. */
function firstObjective(schema: JsonSchema, spec: Spec, objective: Objective): Json {
  const union = resolve(schema.properties?.objective ?? {}, schema);
  const start = withDefaults(union, schema, { [discriminator(union)]: objective });
  if (!isObject(start) || typeof start.max_tokens !== "number") return start;
  const room = numberAt(spec, ["parallelism", "max_tokens_per_microbatch"]);
  const longest = [
    start.max_tokens,
    numberAt(spec, ["rollout", "engine", "max_model_len"]),
    numberAt(spec, ["objective", "max_tokens"]),
    // Both completions of a pair are in one micro-batch.
    Math.floor(room / (objective === "preference" ? 2 : 1)),
  ];
  return { ...start, max_tokens: Math.min(...longest) };
}

function numberAt(spec: Spec, path: Path): number {
  const value = getIn(spec, path);
  return typeof value === "number" ? value : Infinity;
}
