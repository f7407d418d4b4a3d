/** A served policy: what it is at, and how programs use it. */
import type { Serving } from "@/api/model";

export const isOpen = ({ state }: Pick<Serving, "state">) => state === "queued" || state === "running";

/** What a serving waits for while it has no address. */
export function stageOf({ state }: Pick<Serving, "state">): string {
  return state === "queued" ? "Waiting for the cluster" : "The cluster starts the engine";
}

/** Name of the environment variable that holds the key in the samples. */
export const KEY = "DRESSAGE_POLICY_KEY";

/** Commands and programs that ask a served policy a question. */
export function samples(baseUrl: string, policy: string): { curl: string; python: string } {
  const question = { model: policy, messages: [{ role: "user", content: "12+3=" }], max_tokens: 64, stream: true };
  return {
    curl: `curl -sSN '${baseUrl}/chat/completions' \\
  -H "Authorization: Bearer $${KEY}" \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(question)}'
`,
    python: `import os

from openai import OpenAI

client = OpenAI(base_url=${JSON.stringify(baseUrl)}, api_key=os.environ["${KEY}"])
stream = client.chat.completions.create(
    model=${JSON.stringify(policy)},
    messages=[{"role": "user", "content": "12+3="}],
    max_tokens=64,
    stream=True,
)
for chunk in stream:
    print(chunk.choices[0].delta.content or "", end="", flush=True)
`,
  };
}
