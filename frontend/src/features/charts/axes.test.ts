import { expect, it } from "vitest";
import type { Run } from "@/api/model";
import { axisChoices } from "./axes";

const run = (gpu_hours: number, price: number | null): Pick<Run, "cost"> => ({
  cost: { place_hours: 1, gpu_hours, price, currency: price === null ? null : "EUR" },
});
const last = (runs: Pick<Run, "cost">[], chosen: Parameters<typeof axisChoices>[1] = "step") =>
  axisChoices(runs, chosen).at(-1);

it("offers money where there is a price, else GPU hours", () => {
  expect(axisChoices([run(2, 5)], "step").map(({ value }) => value)).toEqual(["step", "time", "tokens", "cost"]);
  expect(last([run(2, 5)])).toMatchObject({ value: "cost", label: "Cost, EUR", disabled: false });
  expect(last([run(2, null)])).toMatchObject({ value: "gpu_hours", label: "GPU hours", disabled: false });
});

it("says why there is none where no GPU was held", () => {
  expect(last([run(0, 5)])).toMatchObject({ disabled: true, hint: "This run used no GPU" });
  expect(last([run(0, null), run(0, null)])?.hint).toBe("None of these runs used a GPU");
  expect(last([run(0, null), run(1, null)])?.disabled).toBe(false);
});

it("keeps an axis that the address asks for, so that it can be left", () => {
  expect(last([run(2, 5)], "gpu_hours")).toMatchObject({ value: "gpu_hours", label: "GPU hours", disabled: false });
  expect(last([run(0, 5)], "cost")).toMatchObject({ value: "cost", disabled: false });
});
