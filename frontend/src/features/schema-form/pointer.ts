/** JSON pointers (RFC 6901), and reading, setting and comparing at them. */
import type { Json } from "@/api/model";

export type Path = (string | number)[];

export function toPointer(path: Path): string {
  return path.map(part => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

export function fromPointer(pointer: string): string[] {
  if (pointer === "") return [];
  return pointer
    .replace(/^\//, "")
    .split("/")
    .map(part => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

export function getIn(value: Json | undefined, path: Path): Json | undefined {
  let at: Json | undefined = value;
  for (const part of path) {
    if (Array.isArray(at)) at = at[Number(part)];
    else if (typeof at === "object" && at !== null) at = at[String(part)];
    else return undefined;
  }
  return at;
}

/** A copy of `value` with `path` set; everything next to the path is shared. */
export function setIn(value: Json, path: Path, next: Json): Json {
  const [head, ...rest] = path;
  if (head === undefined) return next;
  if (Array.isArray(value)) return value.map((one, index) => (index === Number(head) ? setIn(one, rest, next) : one));
  const object = typeof value === "object" && value !== null ? value : {};
  return { ...object, [head]: setIn(object[head] ?? null, rest, next) };
}

export function same(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((one, index) => same(one, b[index]));
  if (typeof a !== "object" || typeof b !== "object" || !a || !b || Array.isArray(a) || Array.isArray(b)) return false;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every(key => same(a[key], b[key]));
}

export interface Change {
  path: Path;
  before: Json | undefined;
  after: Json | undefined;
}

/** The smallest parts in which two documents differ. Lists of another length differ as a whole. */
export function diff(before: Json | undefined, after: Json | undefined, path: Path = []): Change[] {
  if (same(before, after)) return [];
  const objects =
    typeof before === "object" &&
    typeof after === "object" &&
    before !== null &&
    after !== null &&
    Array.isArray(before) === Array.isArray(after);
  if (!objects) return [{ path, before, after }];
  if (Array.isArray(before) && Array.isArray(after)) {
    if (before.length !== after.length) return [{ path, before, after }];
    return before.flatMap((one, index) => diff(one, after[index], [...path, index]));
  }
  const left = before as Record<string, Json>;
  const right = after as Record<string, Json>;
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].flatMap(key =>
    diff(left[key], right[key], [...path, key]),
  );
}

/** The faults at `pointer` itself; with `below`, those of its parts too. */
export function errorsAt(
  errors: { pointer: string; detail: string }[],
  path: Path,
  below = false,
): { pointer: string; detail: string }[] {
  const pointer = toPointer(path);
  return errors.filter(one => one.pointer === pointer || (below && one.pointer.startsWith(`${pointer}/`)));
}

/** The faults at `path` in one text, for the field's `error`. */
export function faultText(...found: Parameters<typeof errorsAt>): string | undefined {
  return (
    errorsAt(...found)
      .map(fault => fault.detail)
      .join(" ") || undefined
  );
}
