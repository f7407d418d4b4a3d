import { useRef } from "react";
import { newKey } from "./key";

/**
 * Idempotency keys of a form: one for all tries of the same request, so that a try whose answer was lost is not done
 * twice, and another as soon as the request is another one, which the platform would refuse under the first key.
 */
export function useRequestKey(): (request: unknown) => string {
  const last = useRef({ request: "", key: "" });
  return request => {
    const text = JSON.stringify(request);
    if (text !== last.current.request) last.current = { request: text, key: newKey() };
    return last.current.key;
  };
}
