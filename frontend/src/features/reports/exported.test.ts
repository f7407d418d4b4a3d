import { QueryClient } from "@tanstack/react-query";
import { afterEach, expect, it, vi } from "vitest";
import type { Report } from "@/api/model";
import { exported, table } from "./exported";

afterEach(() => vi.unstubAllGlobals());

const RUN = { id: "run_a", name: "baseline", state: "succeeded" };
const SERIES = { x: [1, 2], mean: [0.5, 0.75], min: [], max: [], nan: [], raw_count: 2 };

it("writes tables that bars and lines in a cell do not break", () => {
  expect(table(["a|b", "c"], [["1\n2", "x"]])).toBe("| a\\|b | c |\n| --- | --- |\n| 1 2 | x |");
});

it("writes texts as they are, the last values of charts, and which runs are gone", async () => {
  const asked: string[] = [];
  vi.stubGlobal("fetch", (address: string) => {
    asked.push(address);
    const { pathname } = new URL(address, "http://console");
    if (pathname.endsWith("/by-id")) return Promise.resolve(answer({ data: [RUN], missing: ["run_gone"] }));
    if (pathname.endsWith("/run_gone")) return Promise.resolve(answer({ title: "Not found", status: 404 }, 404));
    if (pathname.endsWith("/metrics")) return Promise.resolve(answer({ x: "step", series: { m: SERIES } }));
    return Promise.resolve(answer(RUN));
  });
  const report = {
    id: "report_1",
    title: "Found",
    revision: 2,
    created_by: "a@example.com",
    updated_at: "2026-11-26T04:00:00Z",
    content: {
      blocks: [
        { type: "text", id: "t", markdown: "It *rises*. <b>raw</b>" },
        {
          type: "sample",
          id: "s",
          run: { id: "run_a", name: "*base*" },
          step: 3,
          group: "g",
          number: 0,
          completion: "```\n<img src=x>",
          reward: null,
          note: "See <b>",
        },
        {
          type: "chart",
          id: "c",
          metrics: ["m"],
          runs: [
            { id: "run_a", name: "baseline" },
            { id: "run_gone", name: "Of before" },
          ],
          as_of: "2026-11-26T04:00:00Z",
        },
      ],
    },
  } as unknown as Report;
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const text = await exported(client, report, "http://console");
  expect(text).toContain("# Found\n\nBy a@example.com, revision 2");
  expect(text).toContain("\n\nIt *rises*. \\<b>raw\\</b>\n\n**\\*base\\*, step 3, sample 1**, reward not computed");
  expect(text).toContain(
    "\n\nSee \\<b\\>\n\nCompletion:\n\n````\n```\n<img src=x>\n````\n\n**m** (last values over step; frozen at 26 Nov 2026",
  );
  expect(text).toContain("| Metric | baseline |\n| --- | --- |\n| m | 0.75 @ 2 |");
  expect(text).toContain("No longer in the team: Of before.");
  expect(asked.some(address => address.includes("as_of=2026-11-26T04"))).toBe(true);
});

function answer(body: unknown, status = 200): Response {
  const type = status < 400 ? "application/json" : "application/problem+json";
  return new Response(JSON.stringify(body), { status, headers: { "content-type": type } });
}
