/** What differs between two definitions, with members of lists matched by their names rather than their places. */
import type { Json } from "@/api/model";
import { type Change, diff, type Path, same } from "@/features/schema-form/pointer";
import { isObject } from "@/features/schema-form/schema";

/** Changes in the order of the document. A renamed member reads as one removed and one added. */
export function definitionChanges(before: Json | undefined, after: Json | undefined, path: Path = []): Change[] {
  if (same(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return keys.flatMap(key => definitionChanges(before[key], after[key], [...path, key]));
  }
  const left = named(before);
  const right = named(after);
  return left && right ? memberChanges(left, right, path) : diff(before, after, path);
}

function memberChanges(left: Map<string, Json>, right: Map<string, Json>, path: Path): Change[] {
  const names = [...new Set([...left.keys(), ...right.keys()])];
  const changes = names.flatMap(name =>
    left.has(name) && right.has(name)
      ? definitionChanges(left.get(name), right.get(name), [...path, name])
      : [{ path: [...path, name], before: left.get(name), after: right.get(name) }],
  );
  const kept = (from: Map<string, Json>, other: Map<string, Json>) => [...from.keys()].filter(name => other.has(name));
  const [wasOrder, isOrder] = [kept(left, right), kept(right, left)];
  return same(wasOrder, isOrder)
    ? changes
    : [...changes, { path: [...path, "order"], before: wasOrder.join(", "), after: isOrder.join(", ") }];
}

/** Members by name, if every one of them has a name of its own. */
function named(value: Json | undefined): Map<string, Json> | null {
  if (!Array.isArray(value)) return null;
  const entries = value.flatMap(one =>
    isObject(one) && typeof one.name === "string" && one.name ? [[one.name, one] as const] : [],
  );
  const found = new Map<string, Json>(entries);
  return found.size === value.length ? found : null;
}
