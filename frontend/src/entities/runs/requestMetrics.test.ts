import { expect, it, vi } from "vitest";
import { requestMetrics } from "./requestMetrics";

function platform() {
  const asked: string[][] = [];
  vi.stubGlobal("fetch", (url: string) => {
    const keys = (new URL(url, "http://x").searchParams.get("keys") ?? "").split(",");
    asked.push(keys);
    const series = Object.fromEntries(keys.map(key => [key, { x: [1], mean: [Number(key.slice(1))] }]));
    return Promise.resolve(new Response(JSON.stringify({ x: "step", series })));
  });
  return asked;
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `m${index}`);

it.each([
  [1, [1]],
  [64, [64]],
  [65, [64, 1]],
  [200, [64, 64, 64, 8]],
])("asks for %i metrics in requests that the platform takes, and answers with all", async (count, sizes) => {
  const asked = platform();
  const found = await requestMetrics("run_1", names(count), { x: "step", max_points: 600 });
  expect(asked.map(keys => keys.length)).toEqual(sizes);
  expect(found.x).toBe("step");
  expect(Object.keys(found.series)).toEqual(names(count));
});

it("asks for the same metrics of several runs at once, as many as an answer may hold", async () => {
  const asked: [string, number][] = [];
  vi.stubGlobal("fetch", (url: string) => {
    const { pathname, searchParams } = new URL(url, "http://x");
    const runs = searchParams.get("runs")?.split(",") ?? [];
    asked.push([pathname, runs.length]);
    const one = (run: string) => ({ x: "step", series: { m0: { x: [1], mean: [Number(run.slice(4))] } } });
    const data = runs.filter(run => run !== "run_3").map(run => ({ run, ...one(run) }));
    return Promise.resolve(
      pathname.endsWith("/run_3/metrics")
        ? new Response("{}", { status: 404 })
        : new Response(JSON.stringify({ data })),
    );
  });
  const runs = Array.from({ length: 5 }, (_, place) => `run_${place}`);
  const all = runs.map(run => requestMetrics(run, names(30), { x: "step", max_points: 6000 }));
  const found = await Promise.allSettled(all);
  expect(asked).toEqual([
    ["/api/v1/metrics", 3],
    ["/api/v1/metrics", 2],
    ["/api/v1/runs/run_3/metrics", 0],
  ]);
  expect(found.map(one => (one.status === "fulfilled" ? one.value.series.m0?.mean : "failed"))).toEqual([
    [0],
    [1],
    [2],
    "failed",
    [4],
  ]);
});

it("fails where one of them fails", async () => {
  let answered = 0;
  vi.stubGlobal("fetch", () => {
    answered += 1;
    return answered === 2
      ? Promise.reject(new TypeError("gone"))
      : Promise.resolve(new Response('{"x":"step","series":{}}'));
  });
  await expect(requestMetrics("run_1", names(70), { x: "step", max_points: 600 })).rejects.toThrow();
});
