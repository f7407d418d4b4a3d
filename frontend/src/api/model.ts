/** The platform's documents, as far as the console reads them. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Spec = { [key: string]: Json };

export type RunState = "draft" | "queued" | "starting" | "running" | "paused" | "succeeded" | "failed" | "cancelled";

export interface Actor {
  kind: "user" | "token" | "policy" | "system";
  id: string;
  name: string;
}

export interface List<T> {
  object: "list";
  data: T[];
  has_more: boolean;
  next: string | null;
}

export interface Phase {
  phase: string;
  done: number;
  total: number;
  at: string;
}

export interface Run {
  id: string;
  name: string;
  notes?: string;
  state: RunState;
  desired_state: string;
  state_reason: string;
  queue_position: number | null;
  step: number;
  total_steps: number;
  revision: number;
  attempt: number;
  progress: Phase | null;
  policy: string;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  created_by: Actor | string | null;
  spec?: Spec;
  effective_spec?: Spec;
  parent: { run: string; checkpoint?: string | null; step?: number | null; name?: string } | string | null;
  summary: {
    reward: number | null;
    eval: number | null;
    tokens_total: number | null;
    seconds_per_step: number | null;
    eta_seconds: number | null;
  };
  last_checkpoint: { id?: string; step: number; created_at?: string; at?: string } | null;
  lease_age_s: number | null;
}

export type ControlState = "staged" | "applied" | "settled" | "rejected" | "cancelled";

export interface Control {
  id: string;
  revision: number;
  target: string;
  before: Json;
  value: Json;
  state: ControlState;
  apply_at: "next" | number | null;
  reason: string;
  actor: Actor | string | null;
  reverts?: string | null;
  checkpoint?: string | null;
  created_at: string;
  applied_step: number | null;
  applied_group: string | null;
  settled_step: number | null;
  error: string | null;
}

export interface Target {
  path: string;
  boundary: "group_dispatch" | "optimizer_step";
  value: Json;
  schema: Record<string, unknown>;
}

export interface RunEvent {
  seq: number;
  kind: string;
  step: number | null;
  at: string;
  attempt: number;
  data: Record<string, unknown>;
}

export type XAxis = "step" | "time" | "tokens";

export interface MetricSeries {
  x: number[];
  min: (number | null)[];
  mean: (number | null)[];
  max: (number | null)[];
  raw_count: number;
  nan: number[];
}

export interface MetricData {
  x: XAxis;
  series: Record<string, MetricSeries>;
}

export interface Rollout {
  id?: string;
  group_id: string;
  sample: number;
  step: number;
  attempt?: number;
  prompt_id: string;
  source: string;
  prompt: string;
  completion: string;
  answer: Json;
  reward: number | null;
  reward_parts: Record<string, number>;
  reward_error: string | null;
  advantage: number | null;
  excluded: string | null;
  finish_reason: string;
  length: number;
  thinking_tokens: number;
  budget_hit: boolean;
  control_revision: number;
  policy_versions: [number, number];
}

export interface Checkpoint {
  id: string;
  step: number;
  attempt?: number;
  reason: string;
  bytes: number;
  manifest_sha256: string;
  policy_version?: number;
  control_id?: string | null;
  created_at: string;
  available?: boolean;
}

export interface Recipe {
  name: string;
  title: string;
  description: string;
  spec: Spec;
}

export interface Validation {
  valid: boolean;
  errors: { pointer: string; detail: string }[];
  resolved: Spec | null;
}

export interface DatasetVersion {
  number: number;
  rows: number;
  bytes: number;
  sha256: string;
  columns: { name: string; type: string }[];
  created_at: string;
  created_by: Actor | string | null;
  ref: string;
}

export interface Dataset {
  id: string;
  slug: string;
  name: string;
  description: string;
  created_at: string;
  latest_version: DatasetVersion | null;
  versions?: DatasetVersion[];
}

export interface RewardVersion {
  number: number;
  ref: string;
  definition: Spec;
  note?: string;
  created_at: string;
  created_by: Actor | string | null;
}

export interface Reward {
  id: string;
  slug: string;
  name: string;
  created_at: string;
  latest_version: RewardVersion | null;
  versions?: RewardVersion[];
}

export interface TryResult {
  reward: number | null;
  parts: Record<string, number>;
  error: string | null;
}

export interface Policy {
  id: string;
  slug: string;
  name: string;
  path: string;
  architecture: string;
  parameters: number;
  vocab_size: number;
  max_position_embeddings: number;
  bytes: number;
  sha256: string;
  created_at: string;
}

export type Role = "viewer" | "editor" | "operator" | "admin";

export interface Session {
  authenticated: boolean;
  user: { email: string; name: string; password_is_temporary: boolean } | null;
  team: { id: string; name: string; slug: string } | null;
  role: Role | null;
  teams: { id: string; name: string; slug: string }[];
}

export interface Member {
  id: string;
  email: string;
  name: string;
  role: Role;
  created_at: string;
  password?: string | null;
}

export interface Token {
  id: string;
  name: string;
  prefix: string;
  role: Role;
  created_by: string;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  secret?: string;
}

export interface AuditEntry {
  id: string;
  number: number;
  created_at: string;
  actor: Actor;
  action: string;
  target_type: string;
  target_id: string;
  before: Json;
  after: Json;
  reason: string;
  hash: string;
}

export function actorName(actor: Actor | string | null | undefined): string {
  if (!actor) return "system";
  return typeof actor === "string" ? actor : actor.name || actor.id;
}
