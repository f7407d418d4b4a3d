import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import type { ParaphrasesReport } from "@/api/model";
import { renderWith } from "@/test/render";
import { Background } from "./ParaphrasesCard";

const report = (background: number) => ({ background }) as ParaphrasesReport;

it("says how alike rows are that have nothing to do with each other", () => {
  const { update } = renderWith(<Background report={report(0.41)} />);
  const text = () => screen.getByRole("status").textContent;
  expect(text()).toBe("Of 1,000 random pairs of rows, one is more than 41 % similar.");
  update(<Background report={report(0.93)} />);
  expect(text()).toContain("more than 93 % similar: this model separates rows poorly");
  update(<Background report={report(0.999)} />);
  expect(text()).toContain("Use an embedding model.");
});
