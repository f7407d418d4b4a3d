import { defineConfig } from "orval";

/** The typed client, written from the platform's OpenAPI document by `npm run api`. */
export default defineConfig({
  dressage: {
    input: {
      target: "./openapi.json",
      filters: { mode: "exclude", tags: ["link"] },
      override: { transformer: "./scripts/client-types.mjs" },
    },
    output: {
      target: "./src/api/generated/dressage.ts",
      mode: "split",
      client: "axios-functions",
      headers: true,
      override: {
        mutator: { path: "./src/api/http.ts", name: "http" },
        // orval adds a type `<operation>Result` to each function; for this one a schema has that name already.
        operations: { tryReward: { operationName: () => "scoreSamples" } },
      },
    },
  },
});
