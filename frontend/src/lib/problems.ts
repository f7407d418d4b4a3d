/** Where the faults of a refused request belong in a form. */
import { Problem } from "@/api/http";

/** The fault at `pointer`, for the field's `error`. */
export function fieldError(error: unknown, pointer: string): string | undefined {
  if (!(error instanceof Problem)) return undefined;
  const found = error.errors.filter(one => one.pointer === pointer).map(one => one.detail);
  return found.length > 0 ? found.join(" ") : undefined;
}

/** The error, when it has no field to stand beside; null otherwise. */
export function formError(error: unknown): unknown {
  if (error === null || error === undefined) return null;
  return error instanceof Problem && error.status === 422 && error.errors.some(one => one.pointer) ? null : error;
}
