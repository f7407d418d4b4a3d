/** A fresh idempotency key. `crypto.randomUUID` needs HTTPS, which an internal platform may not have. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, "0")).join("");
}
