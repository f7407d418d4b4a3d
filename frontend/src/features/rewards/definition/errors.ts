import { Problem } from "@/api/http";
import type { FieldError } from "@/api/model";
import { faultsWithin } from "@/api/problems";

/** Faults of a refused definition, with pointers into the definition itself. */
export function definitionErrors(error: unknown): FieldError[] {
  return error instanceof Problem ? faultsWithin("/definition", error.errors) : [];
}
