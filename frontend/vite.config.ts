import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const platform = process.env.DRESSAGE_URL ?? "http://127.0.0.1:8600";

const MOCKING = readdirSync(fileURLToPath(new URL("./src", import.meta.url)), { recursive: true, encoding: "utf8" })
  .filter(name => /\.test\.tsx?$/.test(name))
  .map(name => `src/${name}`)
  .filter(name => readFileSync(new URL(name, import.meta.url), "utf8").includes("vi.mock("));
const browser = { environment: "happy-dom", setupFiles: ["./src/test/leave.ts", "./src/test/setup.ts"] };

export default defineConfig({
  plugins: [react()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  server: {
    proxy: {
      "/api": { target: platform },
      // The platform lets only its own pages open streams.
      "/ws": { target: platform, ws: true, rewriteWsOrigin: true },
    },
  },
  build: {
    target: "es2022",
    // The platform's content policy allows no data: scripts; small assets as files are cached for ever anyway.
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        // What four pages or more use comes in one file: as files of a kilobyte each it compresses badly, and the run
        // page alone would ask for eighty.
        codeSplitting: { groups: [{ name: "shared", minShareCount: 4 }] },
      },
    },
  },
  test: {
    pool: "threads",
    // Files share the modules of a worker, which takes a fraction of the time; a module that is mocked would stay so.
    isolate: false,
    projects: [
      { extends: true, test: { ...browser, name: "mocking", isolate: true, include: MOCKING } },
      {
        extends: true,
        test: { ...browser, name: "components", include: ["src/**/*.test.tsx"], exclude: MOCKING },
      },
      {
        extends: true,
        test: {
          name: "modules",
          environment: "node",
          setupFiles: ["./src/test/leave.ts"],
          include: ["src/**/*.test.ts"],
          exclude: MOCKING,
        },
      },
    ],
    // Typing into real forms takes long on machines that do other things beside.
    testTimeout: 30_000,
  },
});
