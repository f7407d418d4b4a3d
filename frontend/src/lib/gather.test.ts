import { expect, it, vi } from "vitest";
import { gathering } from "./gather";

function ways(there: string[]) {
  return {
    one: vi.fn((id: string) =>
      there.includes(id) ? Promise.resolve(`one ${id}`) : Promise.reject(new Error(`no ${id}`)),
    ),
    several: vi.fn((ids: string[]) =>
      Promise.resolve(new Map(ids.filter(id => there.includes(id)).map(id => [id, `several ${id}`]))),
    ),
    most: (params: string) => (params === "first" ? 3 : 20),
  };
}

it("asks alone about one, and at once about several", async () => {
  const to = ways(["a", "b"]);
  const ask = gathering<string, string>(to);
  await expect(ask("a", "k")).resolves.toBe("one a");
  const both = ["a", "b", "a"].map(id => ask(id, "k"));
  await expect(Promise.all(both)).resolves.toEqual(["several a", "several b", "several a"]);
  expect(to.several.mock.calls.map(([ids]) => ids)).toEqual([["a", "b"]]);
  expect(to.one).toHaveBeenCalledTimes(1);
});

it("keeps other questions apart, and to the number of a request", async () => {
  const to = ways(["a", "b", "c", "d", "e"]);
  const ask = gathering<string, string>(to);
  await Promise.all([...["a", "b", "c", "d", "e"].map(id => ask(id, "first")), ask("a", "other")]);
  expect(to.several.mock.calls.map(([ids]) => ids)).toEqual([
    ["a", "b", "c"],
    ["d", "e"],
  ]);
  expect(to.one.mock.calls.map(([id]) => id)).toEqual(["a"]);
});

it("tells of what is not there as if it were asked for alone, and the others have their answers", async () => {
  const ask = gathering<string, string>(ways(["a", "c"]));
  const found = await Promise.allSettled(["a", "b", "c"].map(id => ask(id, "k")));
  expect(found.map(one => (one.status === "fulfilled" ? one.value : (one.reason as Error).message))).toEqual([
    "several a",
    "no b",
    "several c",
  ]);
});

it("fails for all where the request fails", async () => {
  const ask = gathering<string, string>({ ...ways(["a", "b"]), several: () => Promise.reject(new TypeError("gone")) });
  const found = await Promise.allSettled(["a", "b"].map(id => ask(id, "k")));
  expect(found.map(one => one.status)).toEqual(["rejected", "rejected"]);
});

it("is given up for one at once, and as a whole when all give up", async () => {
  let signal: AbortSignal | undefined;
  const ask = gathering<string, string>({
    ...ways(["a", "b"]),
    several: (_ids, _params, given) => {
      signal = given;
      return new Promise((_resolve, reject) => given.addEventListener("abort", () => reject(given.reason as Error)));
    },
  });
  const [first, second] = [new AbortController(), new AbortController()];
  const a = ask("a", "k", first.signal);
  const b = ask("b", "k", second.signal);
  await Promise.resolve();
  first.abort();
  await expect(a).rejects.toThrow();
  expect(signal?.aborted).toBe(false);
  second.abort();
  await expect(b).rejects.toThrow();
  expect(signal?.aborted).toBe(true);
});
