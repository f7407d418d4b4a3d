/** Values of search parameters as they come from an address: what does not fit is left out. */

export function text(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value ? value : undefined;
}

export function number(value: unknown): number | undefined {
  const found = typeof value === "string" ? Number(value) : value;
  return typeof found === "number" && Number.isFinite(found) ? found : undefined;
}

export function oneOf<T extends string>(value: unknown, allowed: readonly T[]): T | undefined {
  return allowed.find(candidate => candidate === value);
}
