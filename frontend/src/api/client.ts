/** Operations of the platform, one function each. `npm run api` generates them from openapi.json. */
export * from "./generated/dressage";
