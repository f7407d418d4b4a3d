/** Filters of rows: in the address, and in requests. */
import type { RowQuery, RowQueryNoteCondition } from "@/api/model";
import type { DatasetSearch } from "@/entities/datasets/search";

export type RowFilters = Pick<DatasetSearch, "q" | "answer" | "min" | "max" | "tags" | "script" | "notes">;

export const NO_FILTERS: RowFilters = {
  q: undefined,
  answer: undefined,
  min: undefined,
  max: undefined,
  tags: undefined,
  script: undefined,
  notes: undefined,
};

type Script = NonNullable<RowQuery["script"]>;

/** Scripts that rows are told apart by, the frequent ones first. */
export const SCRIPTS: readonly Script[] = [
  "Latin",
  "Han",
  "Cyrillic",
  "Arabic",
  "Devanagari",
  "Hangul",
  "Hiragana",
  "Katakana",
  "Greek",
  "Hebrew",
  "Bengali",
  "Thai",
  "Tamil",
  "Telugu",
  "Georgian",
  "Armenian",
  "Ethiopic",
  "Khmer",
  "Myanmar",
  "none",
];

const WORD = /[\p{L}\p{N}_]/u;
const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d{1,3})?$/iu;

/** Types of columns of notes, by names such as `difficulty.pass_rate`. */
export type NoteTypes = ReadonlyMap<string, string>;

const NO_TYPES: NoteTypes = new Map();

/** The query for the filters. Words without a letter or digit ask for nothing. */
export function rowQuery(filters: RowFilters, types: NoteTypes = NO_TYPES): RowQuery {
  const tags = parts(filters.tags).filter(isTag);
  const notes = parts(filters.notes).flatMap(one => noteCondition(one, types) ?? []);
  return {
    ...(filters.q && WORD.test(filters.q) ? { text: filters.q } : {}),
    ...(filters.answer === undefined ? {} : { answer: filters.answer }),
    ...(filters.min === undefined ? {} : { min_length: filters.min }),
    ...(filters.max === undefined ? {} : { max_length: filters.max }),
    ...(isScript(filters.script) ? { script: filters.script } : {}),
    ...(tags.length > 0 ? { tags } : {}),
    ...(notes.length > 0 ? { notes } : {}),
  };
}

export function isEmpty(query: RowQuery): boolean {
  return Object.keys(query).length === 0;
}

/** Conditions of the filters that {@link rowQuery} cannot read, as a person wrote them. */
export function unread(filters: RowFilters, types: NoteTypes = NO_TYPES): string[] {
  return [
    ...(filters.script === undefined || isScript(filters.script) ? [] : [filters.script]),
    ...parts(filters.tags).filter(tag => !isTag(tag)),
    ...parts(filters.notes)
      .filter(one => noteCondition(one, types) === null)
      .map(plain),
  ];
}

/** The conditions on columns as they are in the address. */
export const tagList = (tags: string | undefined) => parts(tags);

/** Why a text is no list of `column=value`; null if it is one. */
export function tagsFault(text: string): string | null {
  const wrong = parts(text).find(tag => !isTag(tag));
  return wrong === undefined ? null : `"${wrong}" is invalid: use column=value, separated by commas.`;
}

/** Why a text is no number and no range; null if it is one. */
export function numberFault(text: string): string | null {
  return text.trim() === "" || numbers(text) !== null ? null : "Invalid: enter a number, or a range such as 0.2..0.8.";
}

/**
 * A condition on notes as it is in the address: `difficulty.pass_rate:0.2..0.8` or `suspect.suspect:true`. Null
 * where it cannot be read. Of a column whose type is not known, it is taken for what it looks like.
 */
export function noteCondition(text: string, types: NoteTypes = NO_TYPES): RowQueryNoteCondition | null {
  const [, notes, column, written] = /^([^.:]+)\.([^:]+):(.*)$/u.exec(text) ?? [];
  if (notes === undefined || column === undefined || !written) return null;
  const value = plain(written);
  const type = types.get(`${notes}.${column}`);
  if (type === "string") return { notes, column, equals: value };
  if (type === undefined || type === "boolean") {
    if (value === "true" || value === "false") return { notes, column, equals: value === "true" };
    if (type === "boolean") return null;
  }
  const found = numbers(value);
  if (found) return { notes, column, ...found };
  return type === undefined ? { notes, column, equals: value } : null;
}

/** A number, or a range of numbers of which either end may be open. */
function numbers(text: string): { equals: number } | { least: number | null; most: number | null } | null {
  const ends = text.split("..").map(end => end.trim());
  if (!ends.every(end => end === "" || NUMBER.test(end)) || ends.length > 2) return null;
  const [least, most] = ends.map(end => (end === "" ? null : Number(end)));
  if (least === undefined) return null;
  if (most !== undefined) return { least, most };
  return least === null ? null : { equals: least };
}

/** The address's text with the condition on a column replaced, or removed where the value is empty. */
export function withNote(notes: string | undefined, column: string, value: string): string | undefined {
  const others = parts(notes).filter(one => !one.startsWith(`${column}:`));
  return [...others, ...(value ? [`${column}:${escaped(value)}`] : [])].join(",") || undefined;
}

/** What the address asks of a column of notes; empty for nothing. */
export function noteValue(notes: string | undefined, column: string): string {
  const found = parts(notes).find(one => one.startsWith(`${column}:`));
  return plain(found?.slice(column.length + 1) ?? "");
}

const isScript = (text: string | undefined): text is Script => SCRIPTS.some(script => script === text);
const isTag = (text: string) => /^[^=]+=.+/u.test(text);

/** A value as it is between commas. */
const escaped = (value: string) => value.replaceAll("%", "%25").replaceAll(",", "%2C");
const plain = (value: string) => value.replaceAll("%2C", ",").replaceAll("%25", "%");

function parts(text: string | undefined): string[] {
  return (text ?? "")
    .split(",")
    .map(part => part.trim())
    .filter(Boolean);
}
