/** Code snippets for actions of the console. */
import type { Spec } from "./model";

export function curl(method: string, path: string, body?: unknown, headers: string[] = []): string {
  const address = `${window.location.origin}/api/v1${path}`;
  const lines = [
    `curl -sS ${method === "GET" ? "" : `-X ${method} `}${quote(address)}`,
    `  -H "Authorization: Bearer $DRESSAGE_TOKEN"`,
    ...headers.map(header => `  -H ${quote(header)}`),
  ];
  if (body !== undefined)
    lines.push(`  -H 'Content-Type: application/json'`, `  -d ${quote(JSON.stringify(body, null, 2))}`);
  return lines.join(" \\\n");
}

export function createRunCurl(name: string, spec: Spec, start: boolean): string {
  return curl("POST", "/runs", { name, spec, start });
}

export function createRunPython(name: string, spec: Spec, start: boolean): string {
  return `import json
import os
import urllib.request

body = json.loads(r'''
${JSON.stringify({ name, spec, start }, null, 2).replaceAll("'", "\\u0027")}
''')
request = urllib.request.Request(
    ${JSON.stringify(`${window.location.origin}/api/v1/runs`)},
    data=json.dumps(body).encode(),
    headers={"Authorization": f"Bearer {os.environ['DRESSAGE_TOKEN']}", "Content-Type": "application/json"},
)
with urllib.request.urlopen(request) as response:
    print(json.load(response)["id"])
`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
