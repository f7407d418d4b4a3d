/** The data of events. It may be any JSON, so each kind is checked before it is read. */
import type { Control, Json, RunEvent } from "./model";

/** The control that an event reports; null if it reports none. */
export function controlOf(event: RunEvent): Control | null {
  const found: unknown = event.data.control;
  return isControl(found) ? found : null;
}

/** A token on whose probability engine and learner disagree. Log-probabilities that JSON cannot carry are strings. */
export interface WorstToken {
  group_id: string;
  sample: number;
  position: number;
  token_id: number;
  text?: string;
  behaviour_logprob: number | string;
  learner_logprob: number | string;
  version: number;
}

/** The tokens that an event of the kind `rollouts` names, without invalid ones. */
export function worstTokensOf(event: RunEvent): WorstToken[] {
  const found: unknown = event.data.worst_tokens;
  return Array.isArray(found) ? found.filter(isWorstToken) : [];
}

type Known = Record<string, Json | undefined>;
type Types<T> = { [Name in keyof T]-?: (value: Json | undefined) => boolean };

const isText = (value: Json | undefined) => typeof value === "string";
const isNumber = (value: Json | undefined) => typeof value === "number";
const isAny = (value: Json | undefined) => value !== undefined;
const optional = (is: (value: Json | undefined) => boolean) => (value: Json | undefined) =>
  value === undefined || value === null || is(value);

const CONTROL: Types<Control> = {
  id: isText,
  revision: isNumber,
  change_set: optional(isText),
  target: isText,
  boundary: isText,
  before: isAny,
  value: isAny,
  state: isText,
  apply_at: value => value === "next" || isNumber(value),
  ramp_steps: optional(isNumber),
  reason: isText,
  actor: isText,
  created_at: isText,
  reverts: optional(isText),
  checkpoint: optional(isText),
  applied_step: optional(isNumber),
  applied_group: optional(isText),
  settled_step: optional(isNumber),
  error: optional(isText),
};

const WORST_TOKEN: Types<WorstToken> = {
  group_id: isText,
  sample: isNumber,
  position: isNumber,
  token_id: isNumber,
  text: optional(isText),
  behaviour_logprob: value => isNumber(value) || isText(value),
  learner_logprob: value => isNumber(value) || isText(value),
  version: isNumber,
};

const isControl = (value: unknown): value is Control => has(value, CONTROL);
const isWorstToken = (value: unknown): value is WorstToken => has(value, WORST_TOKEN);

/** Whether `value` is an object whose members are as `types` says. */
function has<T>(value: unknown, types: Types<T>): boolean {
  if (typeof value !== "object" || value === null) return false;
  const members = value as Known;
  return Object.entries(types as Types<Known>).every(([name, is]) => is(members[name]));
}
