import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderWith } from "@/test/render";
import { Usage, usedPercent } from "./UsageLine";

const USAGE = { bytes: 1 << 20, rows: 90, bytes_limit: 4 << 20, rows_limit: 100 };

it("tells the share of the limit that is nearer", () => {
  expect(usedPercent(USAGE)).toBe(90);
  expect(usedPercent({ ...USAGE, bytes: 8 << 20 })).toBe(200);
  expect(usedPercent({ ...USAGE, rows_limit: 0 })).toBe(100);
});

it("says what to do once nothing is left", () => {
  const { update } = renderWith(<Usage usage={USAGE} />);
  expect(screen.queryByText(/ask the installation/)).toBeNull();
  expect(screen.getByRole("progressbar", { name: "90 % are used" })).toBeTruthy();
  update(<Usage usage={{ ...USAGE, rows: 100 }} />);
  expect(screen.getByText(/100 of 100 rows are used.*ask the installation/)).toBeTruthy();
});
