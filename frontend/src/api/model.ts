/**
 * The platform's documents. Types come from its OpenAPI document; specs and values are plain JSON here, because forms
 * hold documents that are not valid yet.
 */
import type * as G from "./generated/dressage.schemas";

export type {
  AuditEntry,
  AuditVerification,
  Band,
  BenchFlag,
  BenchJudge,
  Checkpoint,
  Dataset,
  DatasetVersion,
  Explanation,
  JudgeEndpoint,
  LearnerMemory,
  Memory,
  MetricNameList,
  ModePlan,
  NewToken,
  Plan,
  Policy,
  RubricProposal,
  Session,
  Token,
} from "./generated/dressage.schemas";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Spec = { [key: string]: Json };

/** A JSON Schema as pydantic writes it, with the marks of this platform. */
export interface JsonSchema {
  type?: string;
  title?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  enum?: Json[];
  const?: Json;
  default?: Json;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  discriminator?: { propertyName: string; mapping?: Record<string, string> };
  additionalProperties?: boolean | JsonSchema;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  /** Marks of the platform. */
  unit?: string;
  steer?: string;
  widget?: string;
  formula?: string;
  source?: string;
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
}

export type RunState = G.LiveRun["state"];
export type ControlState = G.Control["state"];
export type Role = G.Member["role"];
export type XAxis = G.Metrics["x"];

/** Lists leave out the specs. */
export type Run = Omit<G.Run, "spec" | "effective_spec"> & { spec?: Spec; effective_spec?: Spec };
export type Control = Omit<G.Control, "before" | "value"> & { before: Json; value: Json };
export type Target = Omit<G.Target, "value" | "schema"> & { value: Json; schema: Record<string, unknown> };
export type Recipe = Omit<G.Recipe, "spec"> & { spec: Spec };
export type Validation = Omit<G.Validation, "resolved"> & { resolved: Spec | null };
export type RunEvent = Omit<G.Event, "data"> & { data: Record<string, unknown> };
export type MetricSeries = G.Series;
export type MetricData = Pick<G.Metrics, "x"> & { series: Record<string, MetricSeries> };
export type Rollout = Omit<G.Rollout, "answer" | "reward_parts"> & {
  answer: Json;
  reward_parts: Record<string, number | string>;
};
export type Row = Omit<G.DatasetRow, "row"> & { row: Record<string, Json> };
export type RewardVersion = Omit<G.RewardVersion, "definition"> & { definition: Spec };
export type Reward = Omit<G.Reward, "latest_version" | "versions"> & {
  latest_version: RewardVersion;
  versions: RewardVersion[];
};
export type TryResult = G.Score;
export type BenchJobRow = Omit<G.BenchJobRow, "definitions"> & { definitions: BenchDefinition[] };
export type BenchDefinition = Omit<G.BenchDefinition, "definition"> & { definition: Spec };
export type BenchSample = Omit<G.BenchSample, "item"> & { item: Record<string, Json> };
export type BenchScore = G.BenchScore;
export type BenchSummary = G.BenchSummary;
export type BenchJob = Omit<G.BenchJob, "definitions" | "samples" | "results"> & {
  definitions: BenchDefinition[];
  samples: BenchSample[];
  results: BenchScore[][] | null;
};
/** The password is there once, in the answer that makes it. */
export type Member = G.Member & { password?: string | null };

export interface List<T> {
  object: string;
  data: T[];
  has_more: boolean;
  next: string | null;
}
