import { expect, it, vi } from "vitest";
import { requestRun } from "./requestRun";

function platform() {
  const asked: string[] = [];
  vi.stubGlobal("fetch", (url: string) => {
    const { pathname, searchParams } = new URL(url, "http://x");
    asked.push(pathname);
    const there = (searchParams.get("runs") ?? "").split(",").filter(id => id !== "run_gone");
    if (pathname.endsWith("/by-id")) {
      return Promise.resolve(new Response(JSON.stringify({ data: there.map(id => ({ id })), missing: ["run_gone"] })));
    }
    const id = pathname.split("/").at(-1);
    return Promise.resolve(
      id === "run_gone" ? new Response("{}", { status: 404 }) : new Response(JSON.stringify({ id })),
    );
  });
  return asked;
}

it("asks for runs that are wanted at once in one request, and alone for what it does not find", async () => {
  const asked = platform();
  const found = await Promise.allSettled(["run_1", "run_gone", "run_2"].map(id => requestRun(id)));
  expect(asked).toEqual(["/api/v1/runs/by-id", "/api/v1/runs/run_gone"]);
  expect(found.map(one => (one.status === "fulfilled" ? one.value.id : "failed"))).toEqual([
    "run_1",
    "failed",
    "run_2",
  ]);
});

it("asks for a single run by its own address", async () => {
  const asked = platform();
  expect((await requestRun("run_1")).id).toBe("run_1");
  expect(asked).toEqual(["/api/v1/runs/run_1"]);
});
