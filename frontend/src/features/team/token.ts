/** What a token's row says, and what a new one is sent as. */
import type { Role, ScopeEnum, Token, TokenOptions } from "@/api/model";

const DAY_MS = 86_400_000;
/** Days before its end from which a token is pointed out. */
export const SOON_DAYS = 14;

export interface Standing {
  text: string;
  color: "green" | "yellow" | "red" | "gray";
  /** What to know or to do; null if nothing is. */
  hint: string | null;
}

/** Whether a token acts, in a word, and why not or what is odd about it. */
export function standing(token: Token, now: number): Standing {
  switch (token.state) {
    case "revoked":
      return { text: "revoked", color: "gray", hint: null };
    case "expired":
      return { text: "expired", color: "gray", hint: "Create a new one if it is still needed." };
    case "owner_left":
      return { text: "owner left", color: "red", hint: "It expired when its owner left the team." };
    case "owner_inactive":
      return { text: "owner inactive", color: "red", hint: "It does not work while its owner's account is inactive." };
    case "account_disabled":
      return {
        text: "account disabled",
        color: "red",
        hint: "It does not work while its service account is disabled.",
      };
    case "active":
      break;
  }
  if (token.owner.kind === "nobody")
    return {
      text: "no owner",
      color: "yellow",
      hint: "Created before tokens had owners. It works until it expires: assign it to a service account, or revoke it.",
    };
  if (token.effective_role !== token.role)
    return {
      text: `acts as ${token.effective_role}`,
      color: "yellow",
      hint: `Its owner is now ${token.effective_role}, and it never exceeds its owner's role.`,
    };
  const days = token.expires_at === null ? null : (Date.parse(token.expires_at) - now) / DAY_MS;
  if (days !== null && days < SOON_DAYS)
    return { text: "expires soon", color: "yellow", hint: "Create a new one before it expires." };
  return { text: "active", color: "green", hint: null };
}

/** Nouns of the scopes, in the platform's order, with what each of the two verbs allows. */
export function nouns(options: TokenOptions): { noun: string; read: string; write: string }[] {
  const told = new Map(options.scopes.map(({ name, description }) => [name as string, description]));
  const names = [...new Set(options.scopes.map(({ name }) => name.slice(0, name.indexOf(":"))))];
  return names.map(noun => ({ noun, read: told.get(`${noun}:read`) ?? "", write: told.get(`${noun}:write`) ?? "" }));
}

export type Verb = "none" | "read" | "write";

export interface TokenDraft {
  name: string;
  role: Role;
  /** Id of a service account; null for oneself. */
  account: string | null;
  days: number;
  /** Everything the role allows, or selected scopes only. */
  limited: boolean;
  verbs: Record<string, Verb>;
}

export const emptyDraft = (options: TokenOptions): TokenDraft => ({
  name: "",
  role: "viewer",
  account: null,
  days: options.default_days,
  limited: false,
  verbs: {},
});

/** Lives to choose from: the usual ones that the installation allows, its default and its longest. */
export function lives(options: TokenOptions): number[] {
  const days = [1, 7, 30, 90, 180, 365, options.default_days, options.max_days];
  return [...new Set(days)].filter(one => one <= options.max_days).sort((a, b) => a - b);
}

/** The request's body. */
export function tokenBody(draft: TokenDraft, now: number) {
  const scopes = Object.entries(draft.verbs)
    .filter(([, verb]) => verb !== "none")
    .map(([noun, verb]) => `${noun}:${verb}` as ScopeEnum);
  return {
    name: draft.name.trim(),
    role: draft.role,
    service_account: draft.account,
    scopes: draft.limited ? scopes : null,
    expires_at: new Date(now + draft.days * DAY_MS).toISOString(),
  };
}
