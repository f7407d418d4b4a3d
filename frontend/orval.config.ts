import { defineConfig } from "orval";

/** The typed client, which `npm run api` generates from the platform's OpenAPI document. */
export default defineConfig({
  dressage: {
    input: {
      target: "./openapi.json",
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
