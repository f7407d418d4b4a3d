import { fireEvent, screen, within } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import type { BenchJob, Rescored as RescoredDocument } from "@/api/model";
import { renderWith } from "@/test/render";
import { filterText, groupName, matchedText, readFilter } from "./rescored";
import { Rescored } from "./Rescored";

const row = (sample: string, before: number | null, after: number | null, flips = false) => ({
  sample,
  group: "1/3/3-0",
  before,
  after,
  change: before === null || after === null ? null : after - before,
  advantage_before: before === null ? null : before - 0.5,
  advantage_after: after === null ? null : after - 0.5,
  flips,
  success_before: before === null ? null : before >= 1,
  success_after: after === null ? null : after >= 1,
  verdict_changes: before !== null && after !== null && before >= 1 !== after >= 1,
});

const FOUND: RescoredDocument = {
  label: "draft",
  compared: 2,
  failed: 1,
  changed: 2,
  mean_before: 0.5,
  mean_after: 0.25,
  flips: 1,
  verdicts_changed: 1,
  dead_before: 0,
  dead_after: 1,
  groups: [
    {
      group: "1/3/3-0",
      samples: 2,
      mean_before: 0.5,
      mean_after: 0.25,
      dead_before: false,
      dead_after: true,
      flips: 1,
      verdicts_changed: 1,
    },
  ],
  samples: [row("s0", 1, 0, true), row("s1", 0, 0.5), row("s2", null, 1)],
};

const JOB: Pick<BenchJob, "rescored" | "source"> = {
  rescored: [FOUND],
  source: { type: "run", matching: { filter: { step: 3, dead: false }, groups: 1, left_out: true } },
};

describe("Rescored", () => {
  it("tells what would change, and opens a sample's parts", () => {
    const onOpen = vi.fn();
    renderWith(<Rescored job={JOB} onOpen={onOpen} />);
    const card = screen.getByRole("region", { name: "Under draft" });
    expect(within(card).getAllByText("Verdicts that change").length).toBe(2); // in the figures, and by group
    expect(within(card).getByText("Advantages that change sign")).toBeDefined();
    for (const text of ["2 of 2", "0.5 → 0.25", "1 of 2", "0 → 1 of 1"]) {
      expect(within(card).getAllByText(text).length).toBeGreaterThan(0);
    }
    expect(screen.getByText(/1 group that match step 3, not dead\. Older groups were left out/)).toBeDefined();
    const rows = within(card).getAllByTestId("rescored-row");
    expect(rows.map(one => one.textContent)).toEqual([
      "1step 3 · 3-010−1 no longer a success+0.5 → −0.5 sign changes",
      "2step 3 · 3-000.5+0.5 −0.5 → 0 ",
      "3step 3 · 3-0error1– – → +0.5 ",
    ]);
    fireEvent.click(rows[1] as HTMLElement);
    expect(onOpen).toHaveBeenCalledWith("s1");
  });

  it("shows nothing for samples that are no rollouts", () => {
    renderWith(<Rescored job={{ ...JOB, rescored: [] }} onOpen={vi.fn()} />);
    expect(screen.queryByTestId("rescored")).toBeNull();
  });
});

describe("words", () => {
  it("names groups and filters", () => {
    expect(groupName("2/14/14-3")).toBe("step 14 · 14-3");
    expect(filterText({})).toBe("");
    expect(filterText({ first_step: 2, error: true, q: "wait" })).toBe(" from step 2, error, text wait");
    expect(matchedText({ type: "run" })).toBeNull();
  });

  it("reads a filter from the address, and nothing else", () => {
    expect(readFilter('{"step":3}')).toEqual({ step: 3 });
    expect([readFilter(undefined), readFilter("[1]"), readFilter("{"), readFilter("null")]).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });
});
