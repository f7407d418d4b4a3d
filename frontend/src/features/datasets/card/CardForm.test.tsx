import { fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import type { Dataset } from "@/api/model";
import { renderWith } from "@/test/render";
import { CardForm } from "./CardForm";

afterEach(() => vi.unstubAllGlobals());

const DATASET = {
  id: "ds_1",
  card: { source: "", licence: "MIT", purpose: "", caveats: "Old.", owner: null, revision: 3 },
} as unknown as Dataset;

function begin(answer: () => Response) {
  const sent: { headers: Headers; body: unknown }[] = [];
  vi.stubGlobal("fetch", (url: string, options: RequestInit) => {
    if (!url.endsWith("/card")) return Promise.resolve(Response.json({ data: [] }));
    sent.push({ headers: new Headers(options.headers), body: JSON.parse(String(options.body)) });
    return Promise.resolve(answer());
  });
  const onDone = vi.fn();
  const view = renderWith(<CardForm dataset={DATASET} onDone={onDone} />);
  fireEvent.change(screen.getByLabelText("Purpose"), { target: { value: "Sums." } });
  fireEvent.click(screen.getByRole("button", { name: "Save card" }));
  return { ...view, sent, onDone };
}

it("sends the whole card with the revision that was seen", async () => {
  const { sent, onDone } = begin(() => Response.json({}));
  await waitFor(() => expect(onDone).toHaveBeenCalledOnce());
  expect(sent[0]?.headers.get("If-Match")).toBe('"3"');
  expect(sent[0]?.body).toEqual({ source: "", licence: "MIT", purpose: "Sums.", caveats: "Old.", owner: null });
});

it("keeps what was written where somebody was quicker", async () => {
  const detail = "mia@example.com has changed the card since you looked.";
  const problem = { status: 412, title: "Precondition failed", detail, errors: [] };
  const { onDone, update } = begin(() => Response.json(problem, { status: 412 }));
  expect((await screen.findByRole("alert")).textContent).toContain(detail);
  update(
    <CardForm dataset={{ ...DATASET, card: { ...DATASET.card, purpose: "Other.", revision: 4 } }} onDone={onDone} />,
  );
  expect(screen.getByLabelText<HTMLTextAreaElement>("Purpose").value).toBe("Sums.");
  expect(onDone).not.toHaveBeenCalled();
});
