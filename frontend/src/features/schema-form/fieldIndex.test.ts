import { expect, it } from "vitest";
import { fieldIndex, findFields } from "./fieldIndex";
import { SCHEMA } from "./fixture";

const VALUE = {
  curriculum: { type: "band", low: 0.05 },
  sources: [{ name: "gsm8k", weight: 1 }],
  budget: null,
  overlong: { buffer: 3 },
  rate: 0.1,
  dtype: "float32",
};
const labels = (text: string) => findFields(fieldIndex(SCHEMA, VALUE), text).map(field => field.label);

it("lists every field that the form shows, and none of what is not chosen", () => {
  expect(fieldIndex(SCHEMA, VALUE).map(field => field.path.join("/"))).toEqual([
    "curriculum",
    "curriculum/low",
    "sources",
    "sources/0/name",
    "sources/0/weight",
    "budget",
    "overlong",
    "overlong/buffer",
    "rate",
    "dtype",
  ]);
  const paths = fieldIndex(SCHEMA, { ...VALUE, curriculum: { type: "uniform" }, overlong: null }).map(
    one => one.path[1],
  );
  expect(paths).not.toContain("low");
  expect(paths).not.toContain("buffer");
});

it("finds by name, by the names around it, by its choices and by its path", () => {
  expect(labels("weight")).toEqual(["Sources › gsm8k › Weight"]);
  expect(labels("gsm8k weight")).toEqual(["Sources › gsm8k › Weight"]);
  expect(labels("bfloat16")).toEqual(["Dtype"]);
  expect(labels("uniform")).toEqual(["Curriculum"]);
  expect(labels("overlong.buffer")).toEqual(["Overlong › Buffer"]);
  expect(labels("nothing of this name")).toEqual([]);
  expect(labels("  ")).toEqual([]);
});
