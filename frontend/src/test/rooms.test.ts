import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { ESLint } from "eslint";
import { describe, expect, it } from "vitest";
// @ts-expect-error A configuration of ESLint is plain JavaScript.
import { below, FLOORS } from "../../eslint.rooms.js";

const eslint = new ESLint({ cwd: process.cwd() });

/** Names of the rules of rooms that report `text` as the file `path`. */
async function reported(path: string, text: string): Promise<(string | null)[]> {
  const [found] = await eslint.lintText(text, { filePath: path });
  return (found?.messages ?? []).map(message => message.ruleId).filter(rule => rule?.startsWith("no-restricted"));
}

describe("the gate between rooms", () => {
  it.each([
    ["a leaf imports a page", "src/features/charts/x.ts", 'import { RunPage } from "@/features/runs/page/RunPage";'],
    ["a leaf imports its neighbour", "src/features/stream/x.ts", 'import "@/features/controls/model";'],
    ["a type goes up", "src/api/x.ts", 'import type { JsonSchema } from "@/features/schema-form/schema";'],
    ["a name is passed on upwards", "src/ui/x.ts", 'export { useCan } from "@/features/session/session";'],
    ["a feature imports the router", "src/features/rollouts/x.ts", 'import type { RunTab } from "@/app/router";'],
    ["a page imports another's inside", "src/features/runs/page/x.ts", 'import "@/features/runs/create/CodeTab";'],
    ["a path leaves the room sideways", "src/features/runs/page/x.ts", 'import "../create/CodeTab";'],
    ["a path leaves the room by a detour", "src/features/runs/page/x.ts", 'import "./../create/CodeTab";'],
    ["a generated type is taken past the room api", "src/ui/x.ts", 'import type {} from "@/api/generated/dressage";'],
    ["test helpers come into the console", "src/ui/x.ts", 'import "@/test/render";'],
  ])("closes where %s", async (_, path, text) => {
    expect(await reported(path, text)).toEqual(["no-restricted-imports"]);
  });

  it("closes where an import is made later", async () => {
    const text = 'export const later = () => import("@/features/runs/page/RunPage");';
    expect(await reported("src/features/charts/x.ts", text)).toEqual(["no-restricted-syntax"]);
  });

  it.each([
    ["rooms below", "src/features/charts/x.ts", 'import { runQuery } from "@/entities/runs/queries";'],
    ["files of the room", "src/features/charts/x.ts", 'import { align } from "./align";'],
    ["packages", "src/features/charts/x.ts", 'import uPlot from "uplot";'],
    ["test helpers in a test", "src/features/charts/x.test.ts", 'import { renderWith } from "@/test/render";'],
    ["pages later in the router", "src/app/x.ts", 'export const go = () => import("@/features/team/TeamPage");'],
  ])("is open to %s", async (_, path, text) => {
    expect(await reported(path, text)).toEqual([]);
  });
});

it("closes to casts through unknown, but for a test's doubles", async () => {
  const text = "export const one = (value: number) => value as unknown as string;";
  expect(await reported("src/features/charts/x.ts", text)).toEqual(["no-restricted-syntax"]);
  expect(await reported("src/features/charts/x.test.ts", text)).toEqual([]);
});

it("counts every folder with sources as a room, each once", () => {
  const folders = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter(file => /\.tsx?$/.test(file) && !file.startsWith("api/generated/"))
    .map(file => dirname(file));
  const outside = [".", "test"];
  const found = [...new Set(folders)].filter(folder => !outside.includes(folder));
  expect(found.sort()).toEqual(FLOORS.flat().sort());
});

it("lets a room know the floors below its own, and not its own", () => {
  expect(below("ui")).toEqual(["lib", "theme", "api"]);
  expect(below("lib")).toEqual([]);
});
