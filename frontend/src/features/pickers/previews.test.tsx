import { fireEvent, screen, within } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { renderWith } from "@/test/render";
import { DatasetPicker, PolicyPicker, RewardPicker } from "./pickers";

const VERSION = {
  number: 2,
  ref: "sums@2",
  rows: 1200,
  bytes: 2048,
  columns: ["prompt", "answer", "a", "b", "c", "d", "e", "f", "g", "h"].map(name => ({ name, type: "string" })),
  deleted_at: null,
};
const DATASETS = { data: [{ id: "ds_1", slug: "sums", name: "Sums", versions: [VERSION] }] };
const SHARED = {
  data: [
    { id: "s_1", dataset_id: "ds_9", slug: "lent", name: "Lent", shared_by: "Other", number: 3, rows: 1, bytes: 5 },
  ],
};
const ROWS = { data: [{ index: 0, id: "a", prompt: "1+1=", answer: null }], has_more: false, next: null };
const REWARDS = {
  data: [
    {
      id: "rw_1",
      name: "Math",
      versions: [
        {
          ref: "math@1",
          note: "first",
          definition: {
            components: [
              { name: "correct", grader: { type: "math" } },
              { name: "brief", weight: -0.5, grader: { type: "length" } },
            ],
            success_threshold: 0.9,
          },
        },
      ],
    },
  ],
};
const POLICIES = {
  data: [
    {
      id: "po_1",
      slug: "small",
      name: "Small",
      architecture: "qwen3",
      parameters: 596_049_920,
      max_position_embeddings: 40_960,
      bytes: 1_192_099_840,
    },
  ],
};

let asked: string[];

beforeEach(() => {
  asked = [];
  vi.stubGlobal("fetch", (url: string) => {
    asked.push(url.split("/api/v1")[1] ?? url);
    const found = url.includes("/rows")
      ? ROWS
      : url.includes("/policies")
        ? POLICIES
        : url.includes("/rewards")
          ? REWARDS
          : url.includes("share")
            ? SHARED
            : DATASETS;
    return Promise.resolve(Response.json({ object: "list", ...found }));
  });
});

const props = { id: "x", onChange: () => undefined, label: "Dataset" };

it("tells what a version holds, and reads its first rows when someone looks", async () => {
  renderWith(<DatasetPicker {...props} value="sums@2" />);
  const preview = await screen.findByTestId("choice-preview");
  expect(preview.textContent).toContain("1,200 rows · 2.0 KiB · prompt, answer, a, b, c, d, e, f and 2 more · Open");
  expect(within(preview).getByRole("link").getAttribute("href")).toBe("/datasets/ds_1?version=2");
  expect(asked.some(url => url.includes("/rows"))).toBe(false);
  const details = preview.querySelector("details") as HTMLDetailsElement;
  details.open = true;
  fireEvent(details, new Event("toggle"));
  const rows = await within(preview).findByRole("list", { name: "First rows" });
  expect(rows.textContent).toBe("1+1=no answer");
  expect(asked.filter(url => url.includes("/rows"))).toEqual(["/datasets/ds_1/versions/2/rows?limit=3"]);
});

it("tells of what another team has lent", async () => {
  renderWith(<DatasetPicker {...props} value="lent@3" />);
  expect((await screen.findByTestId("choice-preview")).textContent).toBe("1 row · 5 B · of the team OtherFirst rows");
});

it("tells the parts of a reward and what counts as right", async () => {
  renderWith(<RewardPicker {...props} value="math@1" />);
  const preview = await screen.findByTestId("choice-preview");
  expect(preview.textContent).toContain("1 × correct (math) + −0.5 × brief (length) · correct from 0.9 · first · Open");
  expect(within(preview).getByRole("region", { name: "Definition of math@1", hidden: true }).textContent).toContain(
    '"success_threshold": 0.9',
  );
});

it("tells the size of a policy", async () => {
  renderWith(<PolicyPicker {...props} value="small" />);
  const preview = await screen.findByTestId("choice-preview");
  expect(preview.textContent).toBe("qwen3 · 596M parameters · 40,960 positions · 1.1 GiB · Open");
});

it("tells nothing of a name that stands for nothing", async () => {
  renderWith(<DatasetPicker {...props} value="sums@9" />);
  await vi.waitFor(() => expect(asked).toHaveLength(2));
  expect(screen.queryByTestId("choice-preview")).toBeNull();
});
