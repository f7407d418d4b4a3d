import { expect, it } from "vitest";
import type { ReportBlock } from "@/api/model";
import { chartBlock, emptyBlock, textBlock } from "./blocks";
import { sameText } from "./same";

const RUN = { id: "run_a", name: "baseline" };
const chart = { ...chartBlock([RUN], ["m"], { as_of: "2026-11-26T04:00:00.120Z" }), id: "c" };
/** As the platform answers it: in its own order, with all that was left out. */
const answered = {
  as_of: "2026-11-26T04:00:00.120000Z",
  id: "c",
  lineage: true,
  log: null,
  metrics: ["m"],
  runs: [{ name: "baseline", id: "run_a" }],
  smooth: 0,
  title: "",
  together: false,
  type: "chart",
  x: "step",
  x_from: null,
  x_to: null,
  y_from: null,
  y_to: null,
} as ReportBlock;
const same = (a: ReportBlock[], b: ReportBlock[]) => sameText({ title: "T", blocks: a }, { title: "T", blocks: b });

it("takes what the platform has filled in for the same", () => {
  expect(same([chart], [answered])).toBe(true);
  expect(sameText({ title: " T ", blocks: [] }, { title: "T", blocks: [] })).toBe(true);
  const sample = { ...emptyBlock("sample", [RUN]), id: "s" };
  expect(same([sample], [{ ...sample, reward: null, note: "", prompt: "", completion: "" } as ReportBlock])).toBe(true);
});

it.each<[string, Partial<ReportBlock>]>([
  ["an instant", { as_of: "2026-11-26T04:00:01Z" }],
  ["a smoothing", { smooth: 0.1 }],
  ["a lineage", { lineage: false }],
  ["an axis", { log: false }],
  ["an end at zero", { y_from: 0 }],
  ["a metric", { metrics: ["n"] }],
  ["a run", { runs: [{ id: "run_b", name: "baseline" }] }],
])("tells %s apart", (_, part) => {
  expect(same([chart], [{ ...answered, ...part } as ReportBlock])).toBe(false);
});

it("tells an order and a title apart", () => {
  const [a, b] = [textBlock("a"), textBlock("b")];
  expect(same([a, b], [b, a])).toBe(false);
  expect(sameText({ title: "T", blocks: [] }, { title: "t", blocks: [] })).toBe(false);
});
