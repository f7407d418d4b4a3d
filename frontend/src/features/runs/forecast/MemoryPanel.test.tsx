import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import type { LearnerMemory, Memory } from "@/api/model";
import { renderWith } from "@/test/render";
import { MemoryPanel } from "./MemoryPanel";

const MIB = 1024 * 1024;
const rank = (ranks: number, stage: number, peak: number): LearnerMemory => ({
  zero_stage: stage,
  ranks,
  weights: 8 * MIB,
  gathered: 0,
  gradients: 8 * MIB,
  masters: 0,
  moments: 16 * MIB,
  reference: 0,
  proximal: 0,
  teacher: 0,
  critic: 0,
  activations: 100 * MIB,
  accumulates: false,
  reducing: 0,
  export: 8 * MIB,
  host: 0,
  standing: 24 * MIB,
  peak: peak * MIB,
});
const MEMORY: Memory = {
  learner: rank(1, 2, 124),
  choices: [rank(1, 0, 130), rank(1, 2, 124), rank(2, 0, 80), rank(2, 2, 60)],
  engine: { devices: 1, weights: 8 * MIB, output_layer: 0, kv_cache: 64 * MIB, kv_tokens: 4096, total: 72 * MIB },
};

it("shows the parts of a rank that there are, and what other splits would take", () => {
  renderWith(<MemoryPanel memory={MEMORY} />);
  const parts = within(screen.getByRole("table", { name: "Learner rank by part" })).getAllByRole("row");
  expect(parts.map(row => row.textContent)).toEqual([
    "Weights8.0 MiB",
    "Optimizer moments16.0 MiB",
    "Gradients8.0 MiB",
    "Activations100 MiB",
    "Weights for engines8.0 MiB",
  ]);
  const choices = within(screen.getByRole("table", { name: "Peak of a rank" }));
  expect(choices.getAllByRole("row").map(row => row.textContent)).toEqual([
    "RanksZeRO 0ZeRO 2",
    "1130 MiB124 MiB",
    "280.0 MiB60.0 MiB",
  ]);
  expect(choices.getByText("124 MiB").hasAttribute("data-own")).toBe(true);
  expect(screen.getByText("64.0 MiB, 4,096 tokens")).toBeTruthy();
});

it("tells of the devices of an engine, and of what waits in the host's memory", () => {
  const own = { ...rank(1, 2, 124), host: 32 * MIB };
  renderWith(<MemoryPanel memory={{ ...MEMORY, learner: own, engine: { ...MEMORY.engine, devices: 4 } }} />);
  expect(screen.getByText("Rollout engine, each of 4 devices")).toBeTruthy();
  expect(screen.getByText("In host memory instead").parentElement?.textContent).toContain("32.0 MiB");
});

it("shows nothing where the policy's size is not known", () => {
  renderWith(<MemoryPanel memory={null} />);
  expect(screen.queryByTestId("memory")).toBeNull();
});
