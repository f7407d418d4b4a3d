/** Changes of the run on the x axis, and which of them are shown as one flag. Pure functions. */
import type { Control } from "@/api/model";

/** One change: a control, or all controls that were made together. */
export interface ControlMark {
  id: string;
  /** Where the first batch felt it. */
  x: number;
  /** The first batch entirely under it. Batches between the two are mixed. Null while unknown. */
  until: number | null;
  controls: Control[];
}

/** Controls by the change that they belong to, in the order of their revisions. */
export function byChange(controls: Control[]): Control[][] {
  const sets = new Map<string, Control[]>();
  for (const control of [...controls].sort((a, b) => a.revision - b.revision)) {
    const name = control.change_set ?? control.id;
    sets.set(name, [...(sets.get(name) ?? []), control]);
  }
  return [...sets.values()];
}

/** A flag of the lane: marks that are too close to separate. */
export interface Flag {
  /** Pixels from the lane's left edge. */
  left: number;
  marks: ControlMark[];
}

/** Pixels between two flags at least. */
const APART = 26;

/** The flags of a lane of `width` pixels that reaches over `range`; marks outside of it are left out. */
export function flagsOf(marks: ControlMark[], range: [number, number], width: number): Flag[] {
  const [from, to] = range;
  const flags: Flag[] = [];
  for (const mark of [...marks].sort((a, b) => a.x - b.x)) {
    if (mark.x < from || mark.x > to || width <= 0) continue;
    const left = to > from ? ((mark.x - from) / (to - from)) * width : width / 2;
    const last = flags.at(-1);
    if (last && left - last.left < APART) last.marks.push(mark);
    else flags.push({ left, marks: [mark] });
  }
  return flags;
}

/** "revision 3", "revisions 3 to 5". */
export function revisionsText(controls: Control[]): string {
  const numbers = controls.map(control => control.revision);
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
  return first === last ? `revision ${first}` : `revisions ${first} to ${last}`;
}
