import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { ReactNode } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { BatchPreview, Json, Run } from "@/api/model";
import { renderWith } from "@/test/render";
import { keptDraftOf } from "./batch";
import { BatchForecast } from "./BatchForecast";

let editor = true;
vi.mock("@/features/session/session", () => ({ useCan: () => editor }));
interface LinkProps {
  to: string;
  search?: Record<string, unknown>;
  className?: string;
  children: ReactNode;
}
vi.mock("@tanstack/react-router", () => {
  const link = ({ to, search, children }: LinkProps) => <a href={`${to}?${JSON.stringify(search)}`}>{children}</a>;
  return { Link: link };
});

const SPEC: Json = {
  rollout: { group_size: 8, max_tokens: 64 },
  filters: [
    { type: "high_entropy", share: 0.2 },
    { type: "zero_advantage", tolerance: 1e-8 },
  ],
};
const RUN = { id: "run_1", step: 20, state: "running", effective_spec: SPEC } as Run;

type Side = BatchPreview["now"];
const sure = (value: number) => ({ value, low: value, high: value });
const side = (size: number, dead: number, dropped: number): Side => ({
  group_size: size,
  filters: ["high_entropy", "zero_advantage"],
  dead_share: { value: dead, low: dead - 0.05, high: dead + 0.05 },
  live_groups: { value: 32 * (1 - dead), low: 32 * (0.95 - dead), high: 32 * (1.05 - dead) },
  refills: null,
  samples: sure(32 * size),
  tokens: { value: 640 * size, low: 600 * size, high: 680 * size },
  dropped: { groups: sure(dropped), samples: { value: dropped, low: 0, high: 1 }, tokens: sure(dropped) },
});
const PREVIEW: BatchPreview = {
  now: side(8, 0.5, 0.5),
  draft: side(16, 0.25, 0.5),
  outcomes: { groups: 640, samples: 5120, first_step: 1, last_step: 20 },
  stored: { groups: 1, samples: 8, first_step: 20, last_step: 20 },
  assumptions: ["The policy answers as it did.", "Not counted: high_entropy."],
};

interface Asked {
  changes: { target: string; value: Json }[];
}
const asked: Asked[] = [];
let answer: () => Response | Promise<Response>;
const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });

beforeEach(() => {
  asked.length = 0;
  editor = true;
  answer = () => json(200, PREVIEW);
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    expect(url).toContain("/runs/run_1/batch/preview");
    asked.push(JSON.parse(String(init.body)) as Asked);
    return Promise.resolve(answer());
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  window.sessionStorage.clear();
});

async function open() {
  const user = userEvent.setup();
  const view = renderWith(<BatchForecast run={RUN} />);
  expect(asked).toEqual([]);
  await user.click(screen.getByTestId("batch-forecast"));
  return { user, view };
}
/** The address of the fork, where it can be opened. */
const forkLink = () => screen.getByText("Fork with these").closest("a")?.getAttribute("href");
/** Why it cannot. */
const forkReason = () => {
  const button = screen.getByRole<HTMLButtonElement>("button", { name: "Fork with these" });
  expect(button.disabled).toBe(true);
  return document.getElementById(button.getAttribute("aria-describedby") ?? "")?.textContent;
};
/** The text of a figure, then its interval. */
const figure = (key: string) => {
  const cell = document.querySelector(`[data-figure="${key}"] td`);
  return cell ? [...cell.childNodes].map(part => part.textContent).join(" | ") : undefined;
};

it("asks nothing before it is opened, and then shows a step before and after with intervals", async () => {
  const { user } = await open();
  await waitFor(() => expect(figure("dead")).toBe("50.0 % → 25.0 % | 20.0 % to 30.0 %"));
  expect(asked).toEqual([{ changes: [] }]);
  expect(figure("live")).toBe("16 → 24 | 22.4 to 25.6");
  expect(figure("samples")).toBe("256 → 512");
  expect(figure("tokens")).toBe("5,120 → 10.2k | 9,600 to 10.9k");
  expect(figure("dropped_groups")).toBe("50.0 %");
  expect(figure("refills")).toBeUndefined();
  expect(screen.getByRole("status").textContent).toBe(
    "Groups: outcomes of 640 groups in steps 1 to 20. Filters and tokens: 1 group stored from step 20.",
  );
  expect(screen.getAllByRole("listitem").map(one => one.textContent)).toEqual(PREVIEW.assumptions);
  expect(screen.queryByText("Fork with these")).toBeNull();
  await user.click(screen.getByTestId("batch-forecast"));
  await waitFor(() => expect(screen.queryByTestId("batch-preview")).toBeNull());
});

it("foresees what is drafted, once it is typed, and carries it to a fork", async () => {
  const { user } = await open();
  const size = screen.getByLabelText("Group size to preview");
  await user.clear(size);
  await user.type(size, "16");
  const filters = within(screen.getByRole("group", { name: "Filters to preview" }));
  await user.click(filters.getByLabelText("Groups with equal rewards"));
  await user.click(filters.getByLabelText("Completions longer than a limit"));
  const limit = filters.getByLabelText("Maximum completion length to train on");
  expect(limit).toHaveProperty("value", "32");
  await user.clear(limit);
  await user.type(limit, "48");
  const drafted = [
    { type: "high_entropy", share: 0.2 },
    { type: "overlong", max_tokens: 48 },
  ];
  await waitFor(() =>
    expect(asked.at(-1)?.changes).toEqual([
      { target: "rollout.group_size", value: 16 },
      { target: "filters", value: drafted },
    ]),
  );
  await waitFor(() =>
    expect(forkLink()).toBe(`/runs/new?${JSON.stringify({ fork: "run_1", group_size: 16, filters: drafted })}`),
  );
  await user.clear(size);
  expect(forkReason()).toBe("Enter a group size.");
  await user.click(screen.getByText("Discard"));
  expect(size).toHaveProperty("value", "8");
  expect(filters.getByLabelText("Groups with equal rewards")).toHaveProperty("checked", true);
  expect(screen.queryByText("Fork with these")).toBeNull();
});

it("opens no fork of what the preview refuses, or has not answered for", async () => {
  const detail = "Input should be greater than or equal to 2";
  answer = () => json(422, { title: "Invalid request", detail, errors: [{ pointer: "/changes/0/value", detail }] });
  const { user } = await open();
  const size = screen.getByLabelText("Group size to preview");
  for (const typed of ["0", "-3", "1000000000"]) {
    await user.clear(size);
    await user.type(size, typed);
    await waitFor(() => expect(asked.at(-1)?.changes[0]?.value).toBe(Number(typed)));
    await waitFor(() => expect(forkReason()).toBe("Rejected; see above."));
    expect(screen.getByRole("alert").textContent).toBe(detail);
  }

  let tell: (answered: Response) => void = () => {};
  answer = () => new Promise<Response>(resolve => (tell = resolve));
  await user.clear(size);
  await user.type(size, "16");
  expect(forkReason()).toBe("Waiting for the preview.");
  await waitFor(() => expect(asked.at(-1)?.changes[0]?.value).toBe(16));
  expect(forkReason()).toBe("Waiting for the preview.");
  tell(json(200, PREVIEW));
  await waitFor(() => expect(forkLink()).toBe(`/runs/new?${JSON.stringify({ fork: "run_1", group_size: 16 })}`));
  // The figures of the draft before stay in sight, and open no fork of this one.
  await user.type(size, "0");
  expect(figure("samples")).toBe("256 → 512");
  expect(forkReason()).toBe("Waiting for the preview.");
});

it("hinders no fork where nothing is stored that tells", async () => {
  answer = () => json(409, { title: "Conflict", detail: "Nothing is stored yet.", error: { code: "no_groups" } });
  const { user } = await open();
  await user.type(screen.getByLabelText("Group size to preview"), "0");
  await waitFor(() => expect(forkLink()).toBe(`/runs/new?${JSON.stringify({ fork: "run_1", group_size: 80 })}`));
});

it("gives a filter that is switched on again what the run has set for it, in its place", async () => {
  const { user } = await open();
  const equal = screen.getByLabelText("Groups with equal rewards");
  await user.click(equal);
  await user.click(screen.getByLabelText("Completions truncated at max tokens"));
  await user.click(equal);
  await waitFor(() =>
    expect(asked.at(-1)?.changes).toEqual([
      { target: "filters", value: [...(SPEC as { filters: Json[] }).filters, { type: "truncated" }] },
    ]),
  );
});

it("keeps a draft in the tab until it is discarded", async () => {
  const { user, view } = await open();
  await user.type(screen.getByLabelText("Group size to preview"), "0");
  view.unmount();
  const again = renderWith(<BatchForecast run={RUN} />);
  expect(screen.getByLabelText("Group size to preview")).toHaveProperty("value", "80");
  await user.click(screen.getByText("Discard"));
  again.unmount();
  renderWith(<BatchForecast run={RUN} />);
  expect(screen.queryByLabelText("Group size to preview")).toBeNull();
});

it("takes nothing for a draft that is none", () => {
  for (const text of [undefined, "null", "{", "8", "[]", '{"size":4}', '{"size":4,"filters":[3]}'])
    expect(keptDraftOf(text)).toBeNull();
  expect(keptDraftOf('{"filters":[]}')).toEqual({ size: null, filters: [] });
});

it("tells who may not fork why there is no button", async () => {
  editor = false;
  const { user } = await open();
  await user.click(screen.getByLabelText("Completions truncated at max tokens"));
  await waitFor(() => expect(forkReason()).toBe("Forking needs the editor role."));
  expect(forkLink()).toBeUndefined();
});

it("shows that it waits, that nothing is stored, what is refused, and what has failed", async () => {
  let tell: (answered: Response) => void = () => {};
  answer = () => new Promise<Response>(resolve => (tell = resolve));
  const { user } = await open();
  expect(screen.getByTestId("batch-pending")).toBeTruthy();
  const none = "Nothing is stored yet that tells: a run's first step tells of its groups.";
  await waitFor(() => expect(asked).toHaveLength(1));
  tell(json(409, { title: "Conflict", detail: none, error: { code: "no_groups" } }));
  expect(await screen.findByText(none)).toBeTruthy();
  expect(screen.queryByRole("alert")).toBeNull();

  const detail = "Input should be less than or equal to 1024";
  answer = () => json(422, { title: "Invalid request", detail, errors: [{ pointer: "/changes/0/value", detail }] });
  await user.type(screen.getByLabelText("Group size to preview"), "888");
  expect((await screen.findByRole("alert")).textContent).toBe(detail);

  answer = () => json(503, { title: "Not available", detail: "The database is away." });
  await user.type(screen.getByLabelText("Group size to preview"), "{Backspace}");
  expect(await screen.findByText("The database is away.")).toBeTruthy();
  answer = () => json(200, PREVIEW);
  await user.click(screen.getByRole("button", { name: "Try again" }));
  await waitFor(() => expect(figure("samples")).toBe("256 → 512"));
});
