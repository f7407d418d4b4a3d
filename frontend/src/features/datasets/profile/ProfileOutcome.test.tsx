import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { ReactNode } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { AskedVerdictRequest, Dataset, Profile, Review } from "@/api/model";
import { formatPercent } from "@/lib/format";
import { renderWith } from "@/test/render";
import { ProfileOutcome } from "./ProfileOutcome";

vi.mock("@tanstack/react-router", () => ({
  useNavigate: () => vi.fn(),
  createLink: () => (props: { search: Record<string, unknown>; children: ReactNode }) => (
    <a href={`?${JSON.stringify(props.search)}`}>{props.children}</a>
  ),
}));

const SESSION = { role: "editor", user: null, team: null, teams: [] };
let review: Review;
let sent: unknown[];

beforeEach(() => {
  review = { verdicts: [], right: 0, wrong: 0, leave_out: 0 };
  sent = [];
  vi.stubGlobal("fetch", (url: string, init?: RequestInit) => {
    if (init?.method === "PUT") {
      const body = JSON.parse(init.body as string) as { verdicts: AskedVerdictRequest[] };
      sent.push(body);
      const [said] = body.verdicts as [AskedVerdictRequest & { verdict: "wrong"; answer: string }];
      review = {
        verdicts: [{ ...said, by: "eve@example.org", at: "2026-01-01T00:00:00Z" }],
        right: 0,
        wrong: 1,
        leave_out: 0,
      };
    }
    const found = String(url).endsWith("/review") ? review : SESSION;
    return Promise.resolve(
      new Response(JSON.stringify(found), { status: 200, headers: { "content-type": "application/json" } }),
    );
  });
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
  const profile = { id: "prf_1", version: "sums@2", policy: "small", reward: "exact@1", threshold: 1, plan } as Profile;
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
  expect(cells.slice(0, 3)).toEqual(["row-3", "What is 2+2?", "5"]);
  expect(cells[3]).toBe("5: 0 of 8 (gold)4: 8 of 8");
  expect(cells[4]).toBe(formatPercent(0.97));
  const link = screen.getByRole("link", { name: "row-3" }).getAttribute("href");
  expect(link).toBe('?{"version":2,"tab":"rows","row":3}');
});

it("keeps what a person says of a gold, with the answer of most samples to begin with", async () => {
  draw(REPORT);
  const make = await screen.findByRole("button", { name: "Create a version from the verdicts" });
  expect(make).toHaveProperty("disabled", true);
  await userEvent.click(screen.getByRole("radio", { name: "Wrong" }));
  const answer = await screen.findByRole("textbox", { name: "Correct answer of row-3" });
  expect(sent).toEqual([{ verdicts: [{ row: 3, verdict: "wrong", answer: "4" }] }]);
  expect(answer).toHaveProperty("value", "4");
  expect(screen.getByTestId("review-counts").textContent).toBe("0 correct, 1 wrong, 0 to be left out");
  expect(make).toHaveProperty("disabled", false);
  await userEvent.clear(answer);
  await userEvent.type(answer, "four{Enter}");
  await vi.waitFor(() => expect(sent.at(-1)).toEqual({ verdicts: [{ row: 3, verdict: "wrong", answer: "four" }] }));
});

it("says why no gold can be suspected", async () => {
  draw({ ...REPORT, reads_answers: false, suspects: [], number_of_suspects: 0 });
  expect(await screen.findByText(/does not compare answers/)).toBeTruthy();
  expect(screen.queryByRole("table")).toBeNull();
});
