/** Values of search parameters as they come from an address: what does not fit is left out. */

export function text(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  // No text of the platform has a NUL: a question with one is refused.
  return typeof value === "string" ? value.replaceAll("\0", "") || undefined : undefined;
}

export function number(value: unknown): number | undefined {
  const found = typeof value === "string" ? Number(value) : value;
  return typeof found === "number" && Number.isFinite(found) ? found : undefined;
}

export function oneOf<T extends string>(value: unknown, allowed: readonly T[]): T | undefined {
  return allowed.find(candidate => candidate === value);
}
