import { screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { renderWith } from "@/test/render";
import { partsOf } from "./parts";
import { RewardParts } from "./RewardParts";

const EXPLANATION = {
  right: { weight: 2, reason: "Reads “24”, which equals the gold answer “24”." },
  style: { weight: 0.5, reason: "Failed: the judge did not answer" },
};

describe("partsOf", () => {
  it("joins grades with weights and reasons, in the definition's order", () => {
    expect(partsOf({ overlong: -0.25, right: 1 }, EXPLANATION)).toEqual([
      { name: "right", grade: 1, weight: 2, adds: 2, reason: EXPLANATION.right.reason },
      { name: "style", grade: null, weight: 0.5, adds: null, reason: EXPLANATION.style.reason },
      {
        name: "overlong",
        grade: -0.25,
        weight: 1,
        adds: -0.25,
        reason: "Penalty for answers close to their length limit.",
      },
    ]);
  });

  it("invents no weight for rollouts of before", () => {
    expect(partsOf({ right: 1 }, null)).toEqual([{ name: "right", grade: 1, weight: null, adds: null, reason: null }]);
  });
});

describe("RewardParts", () => {
  it("shows what each part adds and why", () => {
    renderWith(<RewardParts label="Parts" parts={partsOf({ right: 1 }, EXPLANATION)} told />);
    const [right, style] = screen.getAllByRole("listitem");
    expect(right?.textContent).toBe("right1 × 2 = +2Reads “24”, which equals the gold answer “24”.");
    expect(style?.textContent).toBe("styleno gradeFailed: the judge did not answer");
    expect(screen.queryByText(/scored before graders reported them/)).toBeNull();
  });

  it("says where none were kept", () => {
    renderWith(<RewardParts label="Parts" parts={partsOf({ right: 1 }, null)} told={false} />);
    expect(screen.getByRole("listitem").textContent).toBe("right1");
    expect(screen.getByText(/scored before graders reported them/)).toBeDefined();
  });
});
