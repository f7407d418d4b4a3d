/** Maps the errors of a rejected request to the fields of a form. */
import { Problem } from "./http";
import type { FieldError } from "./model";

/** The message at `pointer`, for the field's `error`. */
export function fieldError(error: unknown, pointer: string): string | undefined {
  if (!(error instanceof Problem)) return undefined;
  const found = error.errors.filter(one => one.pointer === pointer).map(one => one.detail);
  return found.length > 0 ? found.join(" ") : undefined;
}

/** The error, unless a field shows each of its faults. `shown` lists or matches the pointers of those fields. */
export function restError(error: unknown, shown: string[] | RegExp): unknown {
  if (!(error instanceof Problem) || error.errors.length === 0) return error ?? null;
  const isShown = (pointer: string) => (Array.isArray(shown) ? shown.includes(pointer) : shown.test(pointer));
  return error.errors.every(one => isShown(one.pointer)) ? null : error;
}

/** Faults of the document at `pointer` in the request, with pointers into that document. */
export function faultsWithin(pointer: string, faults: FieldError[]): FieldError[] {
  const within = <T extends { pointer: string }>(one: T): T =>
    one.pointer === pointer || one.pointer.startsWith(`${pointer}/`)
      ? { ...one, pointer: one.pointer.slice(pointer.length) }
      : one;
  return faults.map(({ mend, ...fault }) => ({
    ...within(fault),
    ...(mend && { mend: { ...mend, changes: mend.changes.map(within) } }),
  }));
}
