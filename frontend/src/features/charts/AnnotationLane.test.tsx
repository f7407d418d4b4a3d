import { fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import type { Run } from "@/api/model";
import { aControl } from "@/test/control";
import { renderWith } from "@/test/render";
import { AnnotationLane } from "./AnnotationLane";

vi.mock("./FlagCard", () => ({
  FlagCard: ({ onClose }: { onClose: () => void }) => <button onClick={onClose}>undo</button>,
}));
vi.mock("@mantine/hooks", async original => ({
  ...(await original<object>()),
  useElementSize: () => ({ ref: () => undefined, width: 1000, height: 20 }),
}));

const RUN = { id: "run_1", state: "running", step: 60, attempt: 1 } as Run;
const MARKS = [{ id: "ctl_1", x: 50, until: null, controls: [aControl({ id: "ctl_1", applied_step: 50 })] }];

const lane = (last: number) => <AnnotationLane run={RUN} marks={MARKS} range={[0, last]} xAxis="step" />;
const left = () => screen.getByTestId("control-line").style.left;

it("keeps its flags where they are while a pointer is over them, whatever steps come", () => {
  const { update } = renderWith(lane(100));
  expect(left()).toBe("500px");
  update(lane(125));
  expect(left()).toBe("400px");

  fireEvent.pointerEnter(screen.getByTestId("annotation-lane"));
  update(lane(200));
  expect(left()).toBe("400px");
  fireEvent.pointerLeave(screen.getByTestId("annotation-lane"));
  expect(left()).toBe("250px");
});

it("follows another axis under the pointer, too", () => {
  const { update } = renderWith(lane(100));
  fireEvent.pointerEnter(screen.getByTestId("annotation-lane"));
  update(<AnnotationLane run={RUN} marks={MARKS} range={[0, 200]} xAxis="tokens" />);
  expect(left()).toBe("250px");
});

it("closes the card when what it shows is undone, and on Escape", async () => {
  renderWith(lane(100));
  fireEvent.click(screen.getByTestId("control-line"));
  fireEvent.click(await screen.findByRole("button", { name: "undo" }));
  await waitFor(() => expect(screen.queryByRole("button", { name: "undo" })).toBeNull());
  fireEvent.click(screen.getByTestId("control-line"));
  const card = await screen.findByRole("button", { name: "undo" });
  fireEvent.keyDown(card, { key: "Escape" });
  await waitFor(() => expect(screen.queryByRole("button", { name: "undo" })).toBeNull());
});
