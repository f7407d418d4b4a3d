import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Spec } from "@/api/model";
import { FIRST, type Pasted } from "@/features/rewards/samples/samples";
import { sessionQuery } from "@/features/session/session";
import { renderWith } from "@/test/render";
import { QuickTry } from "./QuickTry";

const json = (body: unknown) =>
  new Response(JSON.stringify(body), { status: 200, headers: { "content-type": "application/json" } });
beforeEach(() => {
  vi.stubGlobal("fetch", (url: string) => {
    if (url.includes("/session")) return Promise.resolve(json({ authenticated: true, role: "editor" }));
    if (url.includes("/datasets")) return Promise.resolve(json({ data: [] }));
    return Promise.resolve(json({ results: [1, 0.25].map(reward => ({ reward, parts: {}, error: null })) }));
  });
});
afterEach(() => vi.unstubAllGlobals());

function Form() {
  const [samples, setSamples] = useState<Pasted[]>([FIRST, { ...FIRST, output_text: "25" }]);
  const [definition, setDefinition] = useState<Spec>({ components: [] });
  return (
    <>
      <button onClick={() => setDefinition({ components: [{ name: "x" }] })}>Change</button>
      <QuickTry definition={definition} samples={samples} onSamples={setSamples} />
    </>
  );
}

const results = () =>
  screen.getAllByTestId("pasted-sample").map(one => within(one).queryByTestId("try-result")?.textContent);

it("shows a score only under the sample and for the definition that it is of", async () => {
  const user = userEvent.setup();
  const view = renderWith(<p />);
  await view.client.prefetchQuery(sessionQuery);
  view.update(<Form />);
  await user.click(screen.getByTestId("try-reward"));
  await screen.findAllByTestId("try-result");
  expect(results()).toEqual(["Reward 1", "Reward 0.25"]);

  await user.type(screen.getAllByLabelText("Completion")[1] as HTMLElement, "!");
  expect(results()).toEqual(["Reward 1", undefined]);
  await user.click(screen.getByRole("button", { name: "Remove sample 2" }));
  expect(results()).toEqual(["Reward 1"]);
  await user.click(screen.getByRole("button", { name: "Change" }));
  expect(results()).toEqual([undefined]);
});
