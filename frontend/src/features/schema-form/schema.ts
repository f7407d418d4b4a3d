/** Reading JSON Schema: the part of it that pydantic writes for specs and reward definitions. */
import type { Json, JsonSchema } from "@/api/model";

export type Kind =
  "object" | "union" | "optional" | "array" | "enum" | "const" | "boolean" | "integer" | "number" | "string" | "json";

/** `schema` with its reference followed; what is next to the reference (a description, a default) wins. */
export function resolve(schema: JsonSchema, root: JsonSchema): JsonSchema {
  if (!schema.$ref) return schema;
  const { $ref, ...beside } = schema;
  const name = $ref.replace("#/$defs/", "");
  const target = root.$defs?.[name];
  if (!target) throw new Error(`The schema refers to ${$ref}, which it does not define.`);
  return resolve({ ...target, ...beside }, root);
}

export function kindOf(schema: JsonSchema): Kind {
  if (schema.const !== undefined) return "const";
  if (schema.enum) return "enum";
  if (schema.oneOf) return "union";
  if (schema.anyOf) {
    const rest = schema.anyOf.filter(one => one.type !== "null");
    return rest.length === 1 && rest.length < schema.anyOf.length ? "optional" : "json";
  }
  if (schema.type === "object") return schema.properties ? "object" : "json";
  if (schema.type === "array") return schema.items ? "array" : "json";
  if (schema.type === "boolean" || schema.type === "integer" || schema.type === "number" || schema.type === "string") {
    return schema.type;
  }
  return "json";
}

/** Strings that may be longer than some lines are code or prompts, and need room. */
export function isLong(schema: JsonSchema): boolean {
  return kindOf(schema) === "string" && (schema.maxLength ?? 0) > 2000;
}

/** The schema of an optional value when it is there; keeps the unit, widget and description of the field. */
export function present(schema: JsonSchema, root: JsonSchema): JsonSchema {
  const inner = schema.anyOf?.find(one => one.type !== "null");
  if (!inner) return schema;
  const found = resolve(inner, root);
  const title = found.properties ? found.title : schema.title;
  // The outer default is that of the absent value; a present one starts with the inner schema's own.
  return { ...found, ...schema, anyOf: undefined, default: found.default, title };
}

export interface Variant {
  tag: string;
  schema: JsonSchema;
}

/** Members of a discriminated union, in the order of the document. */
export function variants(schema: JsonSchema, root: JsonSchema): Variant[] {
  return (schema.oneOf ?? []).map(one => {
    const member = resolve(one, root);
    return { tag: String(member.properties?.[discriminator(schema)]?.const ?? member.title ?? ""), schema: member };
  });
}

export function discriminator(schema: JsonSchema): string {
  return schema.discriminator?.propertyName ?? "type";
}

export function variantOf(schema: JsonSchema, root: JsonSchema, value: Json | undefined): Variant | undefined {
  const all = variants(schema, root);
  const tag = isObject(value) ? value[discriminator(schema)] : undefined;
  return all.find(one => one.tag === tag);
}

/** The value that a new member of this schema starts with: its default, else the simplest complete value. */
export function initialValue(schema: JsonSchema, root: JsonSchema): Json {
  const found = resolve(schema, root);
  if (found.default !== undefined) return found.default;
  switch (kindOf(found)) {
    case "const":
      return found.const ?? null;
    case "enum":
      return found.enum?.[0] ?? null;
    case "union": {
      const first = variants(found, root)[0];
      return first ? initialValue(first.schema, root) : null;
    }
    case "object":
      return Object.fromEntries(
        Object.entries(found.properties ?? {}).map(([name, property]) => [name, initialValue(property, root)]),
      );
    case "array":
      return Array.from({ length: found.minItems ?? 0 }, () => initialValue(found.items ?? {}, root));
    case "boolean":
      return false;
    case "string":
      return "";
    case "integer":
    case "number":
      return found.minimum ?? null;
    default:
      return null;
  }
}

/** `value` with the defaults of everything it leaves out, so that a form shows what will happen. */
export function withDefaults(schema: JsonSchema, root: JsonSchema, value: Json | undefined): Json {
  const found = resolve(schema, root);
  if (value === undefined) return initialValue(found, root);
  switch (kindOf(found)) {
    case "optional":
      return value === null ? null : withDefaults(present(found, root), root, value);
    case "union": {
      const variant = variantOf(found, root, value);
      return variant ? withDefaults(variant.schema, root, value) : value;
    }
    case "object": {
      if (!isObject(value)) return value;
      const known = Object.entries(found.properties ?? {}).map(([name, property]) => [
        name,
        withDefaults(property, root, value[name]),
      ]);
      const unknown = Object.entries(value).filter(([name]) => !(name in (found.properties ?? {})));
      return Object.fromEntries([...known, ...unknown]) as Json;
    }
    case "array":
      return Array.isArray(value) ? value.map(one => withDefaults(found.items ?? {}, root, one)) : value;
    default:
      return value;
  }
}

export function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
