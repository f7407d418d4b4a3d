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
