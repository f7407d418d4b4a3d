import { type FieldError, Problem } from "@/api/http";

/** Faults of a refused definition, with pointers into the definition itself. */
export function definitionErrors(error: unknown): FieldError[] {
  if (!(error instanceof Problem)) return [];
  return error.errors.map(one => ({ ...one, pointer: one.pointer.replace(/^\/definition(?=\/|$)/, "") }));
}
