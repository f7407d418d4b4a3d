import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import { renderWith } from "@/test/render";
import { UploadForm } from "./UploadForm";

afterEach(() => vi.unstubAllGlobals());

it("says what it waits for while a file is on its way", async () => {
  const user = userEvent.setup();
  vi.stubGlobal("fetch", () => new Promise(() => {}));
  renderWith(<UploadForm onDone={vi.fn()} />);
  await user.upload(screen.getByTestId("file-input"), new File(["x".repeat(2048)], "train.jsonl"));
  expect(screen.getByLabelText(/^Name/)).toHaveProperty("value", "train");
  expect(screen.queryByRole("status")).toBeNull();
  await user.click(screen.getByRole("button", { name: "Upload" }));
  expect(screen.getByRole("status").textContent).toBe("2.0 KiB sent. Checking each row.");
});
