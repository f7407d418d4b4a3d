import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import type { LabJob } from "@/api/model";
import { renderWith } from "@/test/render";
import { JobState } from "./JobState";

const JOB = { id: "lab_1", state: "waiting", error: "There is no room. Delete versions, then resume." } as LabJob;
const none = { resuming: false, onResume: () => {}, onCancel: () => {} };

it("tells why a job waits, and has an editor resume or cancel it", async () => {
  const [onResume, onCancel] = [vi.fn(), vi.fn()];
  renderWith(<JobState job={JOB} editor resuming={false} onResume={onResume} onCancel={onCancel} />);
  expect(screen.getByRole("status").textContent).toContain(JOB.error);
  await userEvent.click(screen.getByRole("button", { name: "Resume" }));
  expect([onResume.mock.calls.length, onCancel.mock.calls.length]).toEqual([1, 0]);
  await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
  expect([onResume.mock.calls.length, onCancel.mock.calls.length]).toEqual([1, 1]);
});

it("tells a viewer the same, without the buttons", () => {
  renderWith(<JobState job={JOB} editor={false} {...none} />);
  expect(screen.getByText(JOB.error)).toBeTruthy();
  expect(screen.queryByRole("button")).toBeNull();
});

it("is silent of a job that is over", () => {
  renderWith(<JobState job={{ ...JOB, state: "done", error: "" }} editor {...none} />);
  expect(screen.queryByRole("status")).toBeNull();
});
