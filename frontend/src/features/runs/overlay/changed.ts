/** Keys of the specs in which runs differ. */
import type { Json } from "@/api/model";
import { diff, getIn, type Path, same, toPointer } from "@/features/schema-form/pointer";

export interface ChangedKey {
  path: Path;
  /** In the order of the runs; undefined if a spec has no such key. */
  values: (Json | undefined)[];
}

/** The smallest parts in which not all specs agree, in the order of the first spec; a part within another is left out. */
export function changedKeys(specs: Json[]): ChangedKey[] {
  const [first, ...others] = specs;
  const paths = new Map(others.flatMap(other => diff(first, other)).map(({ path }) => [toPointer(path), path]));
  const isWithin = (pointer: string) =>
    [...paths.keys()].some(other => other !== pointer && pointer.startsWith(`${other}/`));
  return [...paths]
    .filter(([pointer]) => !isWithin(pointer))
    .map(([, path]) => ({ path, values: specs.map(spec => getIn(spec, path)) }))
    .filter(({ values }) => values.some(value => !same(value, values[0])));
}
