// Writes openapi.json from the platform's code, and the typed client from openapi.json.
import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const python = existsSync(`${root}/.venv/bin/python`) ? `${root}/.venv/bin/python` : "python";
const document = execFileSync(python, ["manage.py", "spectacular", "--format", "openapi-json"], {
  cwd: root,
  maxBuffer: 64 * 2 ** 20,
  stdio: ["ignore", "pipe", "inherit"],
});
writeFileSync(new URL("../openapi.json", import.meta.url), document);
execFileSync("npx", ["orval", "--config", "orval.config.ts"], {
  cwd: fileURLToPath(new URL("..", import.meta.url)),
  stdio: "inherit",
});
