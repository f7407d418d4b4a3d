/** A judge as its form holds it, and what of it is sent. */
import type { JudgeEndpoint } from "@/api/model";

export interface JudgeDraft {
  name: string;
  slug: string;
  kind: "address" | "policy";
  base_url: string;
  policy: string;
  model: string;
  /** Typed again; empty keeps what is stored. */
  api_key: string;
  forget: boolean;
  max_in_flight: number | "";
  timeout_s: number | "";
  retries: number | "";
  price_prompt: number | "";
  price_completion: number | "";
}

export function judgeDraft(judge: JudgeEndpoint | null): JudgeDraft {
  return {
    name: judge?.name ?? "",
    slug: judge?.slug ?? "",
    kind: judge?.policy ? "policy" : "address",
    base_url: judge?.base_url ?? "",
    policy: judge?.policy ?? "",
    model: judge?.model ?? "",
    api_key: "",
    forget: false,
    max_in_flight: judge?.max_in_flight ?? 32,
    timeout_s: judge?.timeout_s ?? 60,
    retries: judge?.retries ?? 3,
    price_prompt: judge?.price_prompt ?? "",
    price_completion: judge?.price_completion ?? "",
  };
}

/** Whether a key, typed or stored, would cross a network unencrypted. */
export function keyIsExposed(draft: JudgeDraft, stored: boolean): boolean {
  const plain = /^http:\/\/(?!(localhost|127\.[\d.]+|\[::1\])(:|\/|$))./i.test(draft.base_url.trim());
  return draft.kind === "address" && plain && !draft.forget && (draft.api_key !== "" || stored);
}

/** The request's body. The key is in it only where a person has typed one or asked to forget it. */
export function judgeBody(draft: JudgeDraft) {
  const address = draft.kind === "address";
  return {
    name: draft.name.trim(),
    model: draft.model.trim(),
    base_url: address ? draft.base_url.trim() : null,
    policy: address ? null : draft.policy,
    ...(draft.forget || !address ? { api_key: null } : draft.api_key ? { api_key: draft.api_key } : {}),
    ...(draft.max_in_flight === "" ? {} : { max_in_flight: draft.max_in_flight }),
    ...(draft.timeout_s === "" ? {} : { timeout_s: draft.timeout_s }),
    ...(draft.retries === "" ? {} : { retries: draft.retries }),
    price_prompt: draft.price_prompt === "" ? null : draft.price_prompt,
    price_completion: draft.price_completion === "" ? null : draft.price_completion,
  };
}
