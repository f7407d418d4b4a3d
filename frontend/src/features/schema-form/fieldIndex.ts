/** All fields that a schema form shows for a value, to be found by their words. */
import type { Json, JsonSchema } from "@/api/model";
import { humanize } from "@/lib/format";
import type { Path } from "./pointer";
import { discriminator, isObject, kindOf, present, resolve, variantOf, variants } from "./schema";

export interface FoundField {
  path: Path;
  /** Names from the outermost to the field's own, such as "Optimizer › Learning rate". */
  label: string;
  /** What the field means, and the names of its choices. */
  words: string;
}

/** @param value what the form holds: members of unions and lists that are not there have no fields */
export function fieldIndex(schema: JsonSchema, value: Json): FoundField[] {
  return inside(schema, schema, value, [], []);
}

/** The fields with all words of a text in label or meaning; those with it in the label first. */
export function findFields(fields: FoundField[], text: string): FoundField[] {
  const words = text
    .toLowerCase()
    .split(/[\s._/]+/)
    .filter(Boolean);
  if (words.length === 0) return [];
  const has = (place: string) => words.every(word => place.toLowerCase().includes(word));
  const inLabel = fields.filter(field => has(field.label));
  const elsewhere = fields.filter(field => !has(field.label) && has(`${field.label} ${field.words}`));
  return [...inLabel, ...elsewhere];
}

function inside(
  schema: JsonSchema,
  root: JsonSchema,
  value: Json | undefined,
  path: Path,
  names: string[],
): FoundField[] {
  const found = resolve(schema, root);
  switch (kindOf(found)) {
    case "optional":
      return value === null ? [] : inside(present(found, root), root, value, path, names);
    case "union": {
      const chosen = variantOf(found, root, value);
      return chosen ? properties(chosen.schema, root, value, path, names, discriminator(found)) : [];
    }
    case "object":
      return properties(found, root, value, path, names);
    case "array":
      return Array.isArray(value)
        ? value.flatMap((one, at) =>
            inside(found.items ?? {}, root, one, [...path, at], [...names, memberName(one, at)]),
          )
        : [];
    default:
      return [];
  }
}

function properties(
  schema: JsonSchema,
  root: JsonSchema,
  value: Json | undefined,
  path: Path,
  names: string[],
  skip?: string,
): FoundField[] {
  const object = isObject(value) ? value : {};
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const found = resolve(property, root);
    if (name === skip || found.const !== undefined) return [];
    const own = [...names, humanize(name)];
    const at = [...path, name];
    const field = { path: at, label: own.join(" › "), words: wordsOf(name, found, root) };
    return [field, ...inside(found, root, object[name], at, own)];
  });
}

function wordsOf(name: string, schema: JsonSchema, root: JsonSchema): string {
  const choices = variants(schema, root).map(({ tag, schema: one }) => `${tag} ${one.title ?? ""}`);
  return [name, schema.description, schema.formula, schema.source, ...(schema.enum ?? []), ...choices].join(" ");
}

function memberName(value: Json, at: number): string {
  const name = isObject(value) ? (value.name ?? value.type) : null;
  return typeof name === "string" && name ? name : String(at + 1);
}
