/** Templates of new rewards. A platform test validates each against the definition's schema. */
import type { Json, JsonSchema, Spec } from "@/api/model";
import { initialValue, withDefaults } from "@/features/schema-form/schema";
import TEMPLATES from "./templates.json";

export interface Template {
  id: string;
  title: string;
  about: string;
  /** What rows, team or cluster must have; empty if it is nothing. */
  needs: string;
  definition: unknown;
}

export const templates: Template[] = TEMPLATES;

/** The template's definition with all defaults, so that the form shows what it does. */
export function definitionOf(template: Template | undefined, schema: JsonSchema): Spec {
  return template?.definition
    ? (withDefaults(schema, schema, template.definition as Json) as Spec)
    : firstDefinition(schema);
}

/** One component, so that the form starts with something to change. */
function firstDefinition(schema: JsonSchema): Spec {
  const made = initialValue(schema, schema) as Spec;
  const components = made.components as Json[] | undefined;
  const first = components?.[0];
  if (typeof first === "object" && first !== null && !Array.isArray(first)) first.name = "correct";
  return made;
}
