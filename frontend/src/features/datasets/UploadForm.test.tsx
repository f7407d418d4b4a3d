import { fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { renderWith } from "@/test/render";
import { type Deferred, deferred } from "@/test/deferred";
import { UploadForm } from "./UploadForm";

afterEach(() => vi.unstubAllGlobals());

const OF = { saved: [], rows: [], columns: [], faults: [], faulty: 0, format: "jsonl", packing: null };

function begin() {
  const made: Deferred<Response> = deferred();
  vi.stubGlobal("fetch", (url: string, options: RequestInit) => {
    if (url.endsWith("/preview"))
      return Promise.resolve(Response.json({ ...OF, by: "shape", shape: { title: "own" } }));
    if (url.endsWith("/datasets") && options.method === "POST") return made.promise;
    return Promise.resolve(Response.json({ data: [] }));
  });
  const onDone = vi.fn();
  const onHolds = vi.fn();
  const view = renderWith(<UploadForm onDone={onDone} onHolds={onHolds} />);
  fireEvent.change(screen.getByTestId("file-input"), { target: { files: [new File(["{}"], "a.jsonl")] } });
  fireEvent.click(screen.getByRole("button", { name: "Upload" }));
  return { ...view, made, onDone, onHolds };
}

it("takes no other file and no other name while one is on its way", async () => {
  const { made, onDone, onHolds } = begin();
  await screen.findByTestId("transfer");
  expect(screen.getByTestId("file-input").matches(":disabled")).toBe(true);
  const label = screen.getByText("a.jsonl").closest("label")!;
  fireEvent.drop(label, { dataTransfer: { files: [new File(["{}"], "b.jsonl")] } });
  expect(screen.getByText("a.jsonl")).toBeTruthy();
  expect(screen.getByLabelText(/Name/).closest("fieldset")?.disabled).toBe(true);
  expect(onHolds).toHaveBeenLastCalledWith(true);
  made.resolve(Response.json({ id: "d1" }, { status: 201 }));
  await waitFor(() => expect(onDone).toHaveBeenCalledWith("d1"));
});

it("takes nobody away who has closed the form", async () => {
  const { made, onDone, client, unmount } = begin();
  await screen.findByTestId("transfer");
  const told = vi.spyOn(client, "invalidateQueries");
  unmount();
  made.resolve(Response.json({ id: "d1" }, { status: 201 }));
  await waitFor(() => expect(told).toHaveBeenCalledTimes(2));
  expect(onDone).not.toHaveBeenCalled();
});
