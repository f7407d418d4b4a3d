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

/** The error, unless every fault of it stands at a field: `shown` matches the pointers of those. */
export function restError(error: unknown, shown: RegExp): unknown {
  if (formError(error) !== null) return error;
  return error instanceof Problem && error.errors.some(one => !shown.test(one.pointer)) ? error : null;
}
