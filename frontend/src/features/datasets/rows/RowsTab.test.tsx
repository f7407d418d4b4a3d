import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from "@tanstack/react-router";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { notifications, Notifications } from "@mantine/notifications";
import { Suspense } from "react";
import type { Dataset, DatasetVersion } from "@/api/model";
import { datasetSearch } from "@/entities/datasets/search";
import { renderWith } from "@/test/render";
import { RowsTab } from "./RowsTab";

const VERSION = { number: 1, ref: "sums@1", rows: 2, origin: null } as DatasetVersion;
const DATASET = { id: "d1", slug: "sums", latest_version: VERSION, versions: [VERSION] } as unknown as Dataset;
const NEWER = { title: "Conflict", detail: "Version 2 was made since you looked.", error: { code: "newer_version" } };

const INDEX = { state: "ready", percent: 100 };
const found = (index: number) => ({ index, id: `r${index}`, text: `row ${index}`, length: 5, answer: null, notes: {} });
const PATH = "/api/v1/datasets/d1/versions/1";

/** Answers of the platform by method and path. */
let answers: Record<string, () => Response>;
let asked: { url: string; key: string | null; body: unknown }[];

beforeEach(() => {
  asked = [];
  answers = {
    "GET /api/v1/session": () => Response.json({ authenticated: true, role: "editor" }),
    [`GET ${PATH}/notes`]: () => Response.json({ data: [] }),
    [`GET ${PATH}/row-values`]: () =>
      Response.json({
        columns: [{ name: "level", values: [{ value: "3", rows: 2 }] }],
        scripts: [{ value: "Latin", rows: 2 }],
        notes: [],
        rows: 2,
        of: "all",
      }),
    [`POST ${PATH}/rows/search`]: () => Response.json({ data: [found(0), found(1)], has_more: false, index: INDEX }),
    [`GET ${PATH}/rows/0`]: () =>
      Response.json({ ...found(0), json: '{"prompt":"a"}', script: "Latin", control_tokens: [] }),
    [`GET ${PATH}/rows/1`]: () =>
      Response.json({ ...found(1), json: '{"prompt":"b"}', script: "Latin", control_tokens: [] }),
    [`POST ${PATH}/derive`]: () => Response.json(NEWER, { status: 409 }),
  };
  vi.stubGlobal("fetch", (url: string, options: RequestInit = {}) => {
    const path = new URL(url, "http://localhost").pathname;
    const line = `${options.method ?? "GET"} ${path}`;
    const headers = new Headers(options.headers);
    asked.push({
      url: line,
      key: headers.get("Idempotency-Key"),
      body: typeof options.body === "string" ? JSON.parse(options.body) : null,
    });
    return Promise.resolve(answers[line]?.() ?? Response.json({ detail: line }, { status: 404 }));
  });
});
afterEach(() => {
  notifications.clean();
  vi.unstubAllGlobals();
});

function show(search: string) {
  const root = createRootRoute({ component: Outlet });
  const app = createRoute({ getParentRoute: () => root, id: "app", component: Outlet });
  const page = createRoute({
    getParentRoute: () => app,
    path: "/datasets/$datasetId",
    validateSearch: datasetSearch,
    component: () => (
      <Suspense>
        <RowsTab dataset={DATASET} version={VERSION} />
        <dialog open aria-label="Another">
          <input aria-label="Elsewhere" />
        </dialog>
        <div role="dialog">
          <input aria-label="In a dialog" />
        </div>
      </Suspense>
    ),
  });
  const history = createMemoryHistory({ initialEntries: [`/datasets/d1${search}`] });
  const router = createRouter({ routeTree: root.addChildren([app.addChildren([page])]), history });
  const view = renderWith(
    <>
      <Notifications />
      <RouterProvider router={router as never} />
    </>,
  );
  return { ...view, router };
}

async function edit(user: ReturnType<typeof userEvent.setup>) {
  await user.click(await screen.findByRole("button", { name: "Edit" }));
  const field = await screen.findByLabelText<HTMLTextAreaElement>("The row as JSON");
  await user.clear(field);
  await user.type(field, "17");
  return field;
}

it("keeps a row that is being changed, whatever is pressed, clicked or asked for anew", async () => {
  const user = userEvent.setup();
  const { client, router } = show("?row=0");
  const field = await edit(user);
  expect(router.state.location.search).toEqual({ version: 1, row: 0 }); // a newer version does not take its place
  await user.keyboard("{Escape}");
  answers[`GET ${PATH}/rows/0`] = () => Response.json({ detail: "The platform restarts." }, { status: 400 });
  await act(() => client.invalidateQueries({ queryKey: ["datasets", "d1", "row"] }));
  expect(await screen.findByText("The platform restarts.")).toBeTruthy();
  expect(field.isConnected && field.value).toBe("17");
  await user.click(screen.getByText("row 1"));
  expect(await screen.findByText("The changed row is not saved.")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Stay" }));
  expect(field.isConnected && field.value).toBe("17");
  await user.click(screen.getByRole("button", { name: "Close row" }));
  await user.click(await screen.findByRole("button", { name: "Discard changes" }));
  await waitFor(() => expect(field.isConnected).toBe(false));
});

it("closes a row at Esc, but not where the key is meant for a dialog", async () => {
  const user = userEvent.setup();
  const { router } = show("?row=0");
  await screen.findByRole("button", { name: "Edit" });
  await user.type(screen.getByLabelText("In a dialog"), "{Escape}");
  expect(router.state.location.search).toEqual({ row: 0 });
  await user.type(screen.getByRole("grid"), "{Escape}");
  await waitFor(() => expect(router.state.location.search).toEqual({ version: 1 }));
});

it("says why rows were not removed, and does not say it again of another row", async () => {
  const user = userEvent.setup();
  show("");
  (await screen.findByLabelText("Select row 1")).closest<HTMLElement>("[data-select]")!.click();
  await user.click(await screen.findByRole("button", { name: "Remove" }));
  expect(await screen.findByText(NEWER.detail)).toBeTruthy();
  await user.click(screen.getByText("row 1"));
  await screen.findByTestId("row-panel");
  expect(within(screen.getByTestId("row-panel")).queryByText(NEWER.detail)).toBeNull();
});

it("asks for one version, by one key, however often Save is pressed, and learns of a newer one", async () => {
  const user = userEvent.setup();
  const { client } = show("?row=0&q=horses");
  client.setQueryData(["datasets", "d1"], DATASET);
  await edit(user);
  const save = screen.getByRole("button", { name: "Save as new version" });
  answers[`POST ${PATH}/derive`] = () => {
    throw new TypeError("The answer was lost.");
  };
  await user.dblClick(save);
  expect(await screen.findByText(/cannot be reached/)).toBeTruthy();
  await waitFor(() => expect(save.dataset.loading).toBeUndefined());
  answers[`POST ${PATH}/derive`] = () => Response.json(NEWER, { status: 409 });
  await user.click(save);
  expect(await screen.findByText(NEWER.detail)).toBeTruthy();
  const keys = asked.filter(({ url }) => url === `POST ${PATH}/derive`).map(({ key }) => key);
  expect(new Set(keys).size).toBe(1);
  expect(client.getQueryState(["datasets", "d1"])?.isInvalidated).toBe(true);
});

it("stays at the row, and with the filters, when a change was saved", async () => {
  const user = userEvent.setup();
  const { router } = show("?row=0&q=horses");
  await edit(user);
  answers[`POST ${PATH}/derive`] = () =>
    Response.json({ results: [{ dataset_id: "d1", number: 2, ref: "sums@2", rows: 2 }] }, { status: 201 });
  await user.click(screen.getByRole("button", { name: "Save as new version" }));
  await waitFor(() => expect(router.state.location.search).toEqual({ version: 2, row: 0, q: "horses" }));
});

it("asks for the rows anew once other things are known about them, and keeps them where that fails", async () => {
  const { client } = show("");
  await screen.findByText("row 1");
  answers[`GET ${PATH}/notes`] = () =>
    Response.json({ data: [{ id: "n1", name: "statistics", columns: [{ name: "words", type: "integer" }] }] });
  answers[`POST ${PATH}/rows/search`] = () =>
    Response.json({ data: [{ ...found(0), notes: { statistics: { words: 3141 } } }], has_more: false, index: INDEX });
  await act(() => client.invalidateQueries({ queryKey: ["datasets", "d1", "notes"] }));
  expect(await screen.findByText("3141")).toBeTruthy();
  const away = () => Response.json({ detail: "The platform restarts." }, { status: 400 });
  Object.assign(answers, { [`GET ${PATH}/notes`]: away, [`POST ${PATH}/rows/search`]: away });
  await act(() => client.invalidateQueries({ queryKey: ["datasets", "d1"] }));
  expect(await screen.findAllByText("The platform restarts.")).toHaveLength(2);
  expect(screen.getByText("3141")).toBeTruthy();
});

it("says which filters it cannot read, and makes no version of more than was asked for", async () => {
  show("?q=horses&tags=level:3");
  expect(await screen.findByText(/Ignored: level:3\./)).toBeTruthy();
  await screen.findByText("row 1");
  expect(screen.queryByRole("button", { name: "Create version" })).toBeNull();
});

it.each([
  ["building", /indexing, 40 %/],
  ["failed", /indexing failed, so searches are slower/],
])("says what an index that is %s means for the search", async (state, text) => {
  answers[`POST ${PATH}/rows/search`] = () =>
    Response.json({ data: [found(0)], has_more: false, index: { state, percent: 40 } });
  show("?q=horses");
  expect(await screen.findByText(text)).toBeTruthy();
});

it("offers the values that there are, and asks for what is chosen", async () => {
  show("");
  await screen.findByText("row 0");
  await userEvent.click(screen.getByRole("button", { name: "Filters" }));
  await userEvent.click(await screen.findByRole("combobox", { name: "Columns" }));
  await userEvent.click(await screen.findByRole("option", { name: "level=3" }));
  await userEvent.click(screen.getByRole("combobox", { name: "Script" }));
  await userEvent.click(await screen.findByRole("option", { name: "Latin · 2" }));
  const queries = () => asked.filter(one => one.url.endsWith("/rows/search")).map(one => one.body);
  await waitFor(() =>
    expect(queries()).toContainEqual(expect.objectContaining({ query: { tags: ["level=3"], script: "Latin" } })),
  );
});
