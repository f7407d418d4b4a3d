import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useQuery } from "@tanstack/react-query";
import { afterEach, expect, it, vi } from "vitest";
import type { Reward, RubricProposal } from "@/api/model";
import { sessionQuery } from "@/features/session/session";
import { renderWith } from "@/test/render";
import { ProposalCard } from "./ProposalCard";
import { proposalsQuery } from "./queries";

const REWARD = { id: "rwd_1" } as Reward;
const PROPOSAL = {
  id: "prp_1",
  state: "proposed",
  component: "quality",
  name: "cites",
  description: "Cites its source.",
  weight: 2,
  run: null,
  step: 7,
  prompt_id: "p1",
  prompt_text: "Why?",
  better: "Because [1].",
  worse: "Because.",
  better_reward: 1,
  worse_reward: 0,
  reason: "",
  reward_version: "r@1",
  created_at: "2026-01-01T00:00:00Z",
  note: "",
} as unknown as RubricProposal;

const sent: { url: string; body: unknown }[] = [];
const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
afterEach(() => {
  sent.length = 0;
  vi.unstubAllGlobals();
});

function List() {
  const found = useQuery(proposalsQuery(REWARD.id, "proposed"));
  return found.data?.data.map(one => <ProposalCard key={one.id} reward={REWARD} proposal={one} />) ?? null;
}

/** `decided` answers the decision, `listed` each reading of the list. */
function renderCard(decided: () => Response, listed: () => Promise<Response>) {
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    if (init.method === "POST") {
      sent.push({ url, body: JSON.parse(init.body as string) });
      return Promise.resolve(decided());
    }
    if (url.includes("/session")) return Promise.resolve(json(200, { authenticated: true, role: "editor" }));
    return listed();
  });
  const root = createRootRoute({ component: List });
  const router = createRouter({ routeTree: root, history: createMemoryHistory() });
  const view = renderWith(<RouterProvider router={router as never} />);
  void view.client.prefetchQuery(sessionQuery);
}
const page = (...data: RubricProposal[]) => json(200, { object: "list", data, has_more: false, next: null });

it("says why an item was refused, though no field of it is open", async () => {
  const detail = "A rubric's names must differ.";
  renderCard(
    () => json(422, { title: "Invalid request", detail, errors: [{ pointer: "/name", detail }] }),
    () => Promise.resolve(page(PROPOSAL)),
  );
  await userEvent.click(await screen.findByTestId("accept-proposal"));
  expect((await screen.findByRole("alert")).textContent).toContain(detail);
});

it("is decided once: it stays busy until the list is read anew", async () => {
  let answer: (response: Response) => void = () => {};
  let readings = 0;
  renderCard(
    () => json(200, { proposal: { ...PROPOSAL, state: "accepted" }, version: { ref: "r@2" } }),
    () => {
      readings += 1;
      return readings === 1 ? Promise.resolve(page(PROPOSAL)) : new Promise(resolve => (answer = resolve));
    },
  );
  const accept = await screen.findByTestId("accept-proposal");
  await userEvent.click(accept);
  await waitFor(() => expect(readings).toBe(2));
  expect(accept).toHaveProperty("disabled", true);
  await userEvent.click(accept);
  expect(sent).toHaveLength(1);
  answer(page());
  await waitFor(() => expect(screen.queryByTestId("proposal")).toBeNull());
});
