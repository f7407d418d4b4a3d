import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const platform = process.env.DRESSAGE_URL ?? "http://127.0.0.1:8600";

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
    environment: "happy-dom",
    setupFiles: ["./src/test/setup.ts"],
    include: ["src/**/*.test.{ts,tsx}"],
    // Typing into real forms takes long on machines that do other things beside.
    testTimeout: 30_000,
  },
});
