/** Generates the typed client from openapi.json, unless it is up to date. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const INPUTS = ["openapi.json", "orval.config.ts", "scripts/client-types.mjs", "package-lock.json"];
const STAMP = "src/api/generated/.stamp";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const hash = createHash("sha256");
for (const input of INPUTS) hash.update(readFileSync(input));
const wanted = hash.digest("hex");
if (!existsSync(STAMP) || readFileSync(STAMP, "utf8") !== wanted) {
  const { generate } = await import("orval");
  rmSync("src/api/generated", { recursive: true, force: true });
  await generate("orval.config.ts");
  writeFileSync(STAMP, wanted); // last, so that a broken run leaves none
}
