import { screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Dataset, Profile } from "@/api/model";
import { formatPercent } from "@/lib/format";
import { renderWith } from "@/test/render";
import { ProfileOutcome } from "./ProfileOutcome";

vi.mock("@tanstack/react-router", () => ({ useNavigate: () => vi.fn() }));

const SESSION = { role: "editor", user: null, team: null, teams: [] };

beforeEach(() => {
  const answer = () =>
    new Response(JSON.stringify(SESSION), { status: 200, headers: { "content-type": "application/json" } });
  vi.stubGlobal("fetch", () => Promise.resolve(answer()));
});
afterEach(() => vi.unstubAllGlobals());

const REPORT: NonNullable<Profile["report"]> = {
  stopped: "settled",
  asked: 60,
  graded: 60,
  rows: 13,
  states: [
    { samples: 4, correct: 0, rows: 5 },
    { samples: 4, correct: 4, rows: 6 },
    { samples: 8, correct: 4, rows: 2 },
  ],
  prior_a: 0.5,
  prior_b: 0.5,
  error: 0.04,
  dead_shares: [{ group_size: 8, share: 0.625 }],
  suspects: [
    {
      row: 3,
      id: "row-3",
      prompt: "What is 2+2?",
      gold: "5",
      answer: "4",
      votes: 8,
      samples: 8,
      correct: 0,
      agreement: 1,
      chance: 0.97,
      answers: [{ text: "4", votes: 8 }],
    },
  ],
  number_of_suspects: 1,
  reads_answers: true,
  warnings: ["A reward worker was replaced"],
};

function draw(report: typeof REPORT) {
  const plan = { min_pass_rate: 0.2, max_pass_rate: 0.8 };
  const profile = { id: "prf_1", policy: "small", reward: "exact@1", threshold: 1, plan } as Profile;
  renderWith(<ProfileOutcome profile={profile} report={report} dataset={{} as Dataset} />);
}

it("counts the rows of the band, and lists suspects with their votes", async () => {
  draw(REPORT);
  expect((await screen.findByTestId("profile-band")).textContent).toBe(
    `2 rows from ${formatPercent(0.2)} to ${formatPercent(0.8)}, 5 harder, 6 easier`,
  );
  expect(screen.getByText(formatPercent(0.625, 1))).toBeTruthy();
  expect(screen.getByText("A reward worker was replaced")).toBeTruthy();
  const cells = screen.getAllByRole("cell").map(cell => cell.textContent);
  expect(cells).toEqual(["row-3", "What is 2+2?", "5", "4", "8 of 8", formatPercent(0.97)]);
});

it("says why no gold can be suspected", async () => {
  draw({ ...REPORT, reads_answers: false, suspects: [], number_of_suspects: 0 });
  expect(await screen.findByText(/compares no place of the answer/)).toBeTruthy();
  expect(screen.queryByRole("table")).toBeNull();
});
