import { expect, it } from "vitest";
import type { RunEvent } from "@/api/model";
import { describe } from "./describeEvent";

it.each([
  ["paused", "ann requested a pause"],
  ["cancelled", "ann requested cancellation"],
  ["running", "ann requested a start"],
  ["elsewhere", "ann requested elsewhere"],
])("says what a user requested: %s", (to, text) => {
  expect(describe({ kind: "desired", data: { actor: "ann", to } } as unknown as RunEvent).text).toBe(text);
});
