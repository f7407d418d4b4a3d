/** A mapping while a person makes it: the document, and what each column becomes by it. */
import type { DatasetMapping, PreviewColumn } from "@/api/model";

export type Part = "prompt" | "chat" | "system" | "answer" | "tests" | "source" | "kept" | "left_out";

export const PARTS: { value: Part; label: string }[] = [
  { value: "prompt", label: "Prompt" },
  { value: "chat", label: "Chat (messages)" },
  { value: "system", label: "System message" },
  { value: "answer", label: "Answer" },
  { value: "tests", label: "Tests" },
  { value: "source", label: "Source" },
  { value: "kept", label: "Kept" },
  { value: "left_out", label: "Left out" },
];

type Answer = NonNullable<DatasetMapping["answer"]>;
export type Rule = NonNullable<Answer["rule"]>;

export const RULES: { value: Rule; label: string }[] = [
  { value: "as_is", label: "As is" },
  { value: "last_number", label: "Last number" },
  { value: "after_marker", label: "Text after a marker" },
  { value: "boxed", label: "The last \\boxed{}" },
  { value: "choice_index", label: "Letter of the option with this number" },
  { value: "choice_label", label: "Letter of the option with this label" },
  { value: "choice_text", label: "Letter of the option with this text" },
];

/** A mapping that says nothing yet: its template is empty, which the platform refuses. */
export const NOTHING: DatasetMapping = { prompt: { kind: "columns", template: "", form: "chat" } };

/** Whether it can be sent: what is asked is said. */
export function isComplete(mapping: DatasetMapping): boolean {
  const { prompt } = mapping;
  return prompt.kind === "chat" ? prompt.path !== "" : prompt.template.trim() !== "";
}

/** What a column becomes; of several things, the first in the order of {@link PARTS}. */
export function partOf(mapping: DatasetMapping, column: PreviewColumn): Part {
  const { prompt } = mapping;
  if (prompt.kind === "columns" && names(prompt.template, column)) return "prompt";
  if (prompt.kind === "chat" && begins(prompt.path, column)) return "chat";
  if (mapping.system && names(mapping.system, column)) return "system";
  if (mapping.answer && begins(mapping.answer.path, column)) return "answer";
  if (mapping.tests && begins(mapping.tests.path, column)) return "tests";
  if (mapping.source && begins(mapping.source, column)) return "source";
  return mapping.left_out?.includes(column.name) ? "left_out" : "kept";
}

/** The mapping with a column made another part of the row. */
export function withPart(mapping: DatasetMapping, column: PreviewColumn, part: Part): DatasetMapping {
  const made = without(mapping, column);
  // What it was read as for another part holds for that one alone.
  if (part !== "kept") made.json_columns = made.json_columns?.filter(name => name !== column.name);
  const place = `{${column.path}}`;
  switch (part) {
    case "prompt":
      return made.prompt.kind === "columns"
        ? { ...made, prompt: { ...made.prompt, template: appended(made.prompt.template, place) } }
        : { ...made, prompt: { kind: "columns", template: place, form: "chat" } };
    case "chat":
      return { ...made, prompt: { kind: "chat", path: column.path, ...keysOf(column) } };
    case "system":
      return { ...made, system: appended(made.system ?? "", place) };
    case "answer":
      return { ...made, answer: { path: column.path, rule: "as_is" } };
    case "tests":
      return { ...made, tests: { path: column.path } };
    case "source":
      return { ...made, source: column.path };
    case "left_out":
      return { ...made, left_out: [...(made.left_out ?? []), column.name] };
    case "kept":
      return made;
  }
}

/** The mapping with the columns of JSON text that it looks into read as JSON, next to those that it read so before. */
export function readingJson(mapping: DatasetMapping, columns: PreviewColumn[]): DatasetMapping {
  const before = mapping.json_columns ?? [];
  const more = columns.filter(
    column => column.json_text && !before.includes(column.name) && looksInto(mapping, column),
  );
  return { ...mapping, json_columns: [...before, ...more.map(column => column.name)] };
}

/** The mapping with a column of JSON text read as JSON, or kept as text. */
export function withJson(mapping: DatasetMapping, column: PreviewColumn, json: boolean): DatasetMapping {
  const others = (mapping.json_columns ?? []).filter(name => name !== column.name);
  return { ...mapping, json_columns: json ? [...others, column.name] : others };
}

/** Whether something is taken from inside a column: chats and tests are read from JSON text as they are. */
export function looksInto(mapping: DatasetMapping, column: PreviewColumn): boolean {
  const { prompt, system, answer, tests, source } = mapping;
  const choices = answer?.rule?.startsWith("choice_") ? (answer.choices ?? []) : [];
  const paths = [prompt.kind === "chat" ? prompt.path : "", answer?.path, tests?.path, source, ...choices];
  const templates = [prompt.kind === "columns" ? prompt.template : "", system];
  return (
    paths.some(path => path && path !== column.path && begins(path, column)) ||
    (choices.length === 1 && choices[0] === column.path) ||
    templates.some(template => template && place(column, "[.[|]").test(template))
  );
}

/** All places that a mapping can name, columns first. */
export function placesOf(columns: PreviewColumn[]): string[] {
  return [...new Set([...columns.map(column => column.path), ...columns.flatMap(c => c.paths.map(one => one.path))])];
}

/** The mapping with nothing made of a column. */
function without(mapping: DatasetMapping, column: PreviewColumn): DatasetMapping {
  const { prompt, system, answer, tests, source, left_out } = mapping;
  return {
    ...mapping,
    prompt:
      prompt.kind === "chat"
        ? begins(prompt.path, column)
          ? { kind: "columns", template: "", form: "chat" }
          : prompt
        : { ...prompt, template: removed(prompt.template, column) },
    system: system ? removed(system, column) || null : null,
    answer: answer && begins(answer.path, column) ? null : answer,
    tests: tests && begins(tests.path, column) ? null : tests,
    source: source && begins(source, column) ? null : source,
    left_out: left_out?.filter(name => name !== column.name),
  };
}

const appended = (template: string, place: string) => (template.trim() ? `${template.trimEnd()}\n\n${place}` : place);

/** The template without the places of a column. Lines that held nothing else go with them. */
function removed(template: string, column: PreviewColumn): string {
  const lines = template.split("\n").flatMap(line => {
    const rest = line.replace(place(column), "");
    return rest === line ? [line] : /^\s*(?:[A-Z][.)])?\s*$/.test(rest) ? [] : [rest];
  });
  return lines
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

const names = (template: string, column: PreviewColumn) => place(column).test(template);

/** A place of a column in a template: its path, what is inside of it, and how it is written. */
function place(column: PreviewColumn, goesOn?: string): RegExp {
  const path = column.path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const rest = goesOn ? `${goesOn}[^{}]*` : "(?:[.[|?][^{}]*)?";
  return new RegExp(`\\{\\s*${path}\\s*${rest}\\}`);
}

function begins(path: string, column: PreviewColumn): boolean {
  return path.startsWith(column.path) && /^(?:$|[.[])/.test(path.slice(column.path.length));
}

/** Keys by which the turns of a chat say who speaks, and what. */
function keysOf(column: PreviewColumn): { role: string; content: string } {
  const has = (key: string) => column.paths.some(one => one.path === `${column.path}[0].${key}`);
  const role = ["role", "from", "speaker", "author"].find(has) ?? "role";
  const content = ["content", "value", "text", "message"].find(has) ?? "content";
  return { role, content };
}
