import { expect, it } from "vitest";
import type { PreviewColumn } from "@/api/model";
import { isComplete, NOTHING, partOf, placesOf, readingJson, withJson, withPart } from "./draft";

function column(name: string, more: Partial<PreviewColumn> = {}): PreviewColumn {
  return { name, path: name, type: "string", rows: 1, json_text: false, examples: [], paths: [], ...more };
}

it("makes a prompt, an answer and what is left out of columns, and takes each back", () => {
  const [context, question, gold] = [column("context"), column("question"), column("a.b", { path: '["a.b"]' })];
  let mapping = withPart(NOTHING, context, "prompt");
  mapping = withPart(mapping, question, "prompt");
  mapping = withPart(mapping, gold, "answer");
  expect(mapping.prompt).toEqual({ kind: "columns", template: "{context}\n\n{question}", form: "chat" });
  expect(mapping.answer).toEqual({ path: '["a.b"]', rule: "as_is" });
  expect([context, question, gold].map(one => partOf(mapping, one))).toEqual(["prompt", "prompt", "answer"]);
  mapping = withPart(mapping, context, "left_out");
  mapping = withPart(mapping, gold, "kept");
  expect(mapping.prompt).toEqual({ kind: "columns", template: "{question}", form: "chat" });
  expect([mapping.answer, mapping.left_out]).toEqual([null, ["context"]]);
  expect(partOf(withPart(mapping, context, "kept"), context)).toBe("kept");
});

it("takes a column by its whole name, and what is inside of it as its own", () => {
  const mapping = { ...NOTHING, prompt: { kind: "columns" as const, template: "{question_text} {choices|letters}" } };
  expect(partOf(mapping, column("question"))).toBe("kept");
  expect(partOf(mapping, column("choices"))).toBe("prompt");
  expect(partOf({ ...mapping, answer: { path: "meta.gold[0]" } }, column("meta"))).toBe("answer");
  expect(partOf({ ...mapping, answer: { path: "metadata" } }, column("meta"))).toBe("kept");
});

it("reads the turns of a chat by the keys that they have", () => {
  const turns = column("turns", {
    paths: ["turns[0].from", "turns[0].value"].map(path => ({ path, type: "string", example: "" })),
  });
  const mapping = withPart(NOTHING, turns, "chat");
  expect(mapping.prompt).toEqual({ kind: "chat", path: "turns", role: "from", content: "value" });
  expect(withPart(mapping, turns, "kept").prompt).toEqual({ kind: "columns", template: "", form: "chat" });
});

it("says what is complete, which places there are, and which columns are JSON", () => {
  const info = column("info", { json_text: true, paths: [{ path: "info.a", type: "string", example: "" }] });
  expect([isComplete(NOTHING), isComplete(withPart(NOTHING, info, "prompt"))]).toEqual([false, true]);
  expect(placesOf([info, column("b")])).toEqual(["info", "b", "info.a"]);
  const read = (part: Partial<typeof NOTHING>) =>
    readingJson({ ...NOTHING, ...part }, [info, column("b")]).json_columns;
  expect(read({})).toEqual([]);
  expect(read({ answer: { path: "info" } })).toEqual([]);
  expect(read({ answer: { path: "info.a" } })).toEqual(["info"]);
  expect(read({ answer: { path: "b", rule: "choice_index", choices: ["info"] } })).toEqual(["info"]);
  expect(read({ prompt: { kind: "columns", template: "{info|letters}", form: "chat" } })).toEqual(["info"]);
  expect(read({ prompt: { kind: "columns", template: "{info?} {infos.a}", form: "chat" } })).toEqual([]);
});

it("leaves a column of JSON text as it was, unless it is said or something inside of it is asked for", () => {
  const info = column("info", { json_text: true });
  const kept = { ...NOTHING, json_columns: ["meta"] };
  expect(readingJson({ ...kept, faulty_rows: "leave_out" }, [info]).json_columns).toEqual(["meta"]);
  const read = withJson(kept, info, true);
  expect(read.json_columns).toEqual(["meta", "info"]);
  expect(withPart(read, info, "answer").json_columns).toEqual(["meta"]);
  expect(withJson(read, info, false).json_columns).toEqual(["meta"]);
});
