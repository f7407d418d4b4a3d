/**
 * Documents of the platform. `npm run api` generates their types from openapi.json; declared here are types that the
 * document lacks.
 */
import type * as G from "./generated/dressage.schemas";

export type * from "./generated/dressage.schemas";

/** A JSON Schema as pydantic writes it, with the marks of this platform. */
export interface JsonSchema {
  type?: string;
  title?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  enum?: G.Json[];
  const?: G.Json;
  default?: G.Json;
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

/** A run as pages hold it: in place of the generated type, as lists and the live stream leave out the specs. */
export type Run = G.LiveRun &
  Partial<Pick<G.Run, "spec" | "effective_spec" | "cost">> & {
    /** What it learns from. Absent from platforms of earlier releases: reinforcement learning. */
    objective?: string;
  };

export type ReportBlock = G.ReportContentBlocksItem;

/** A page of any list. */
export interface List<T> {
  object: string;
  data: T[];
  has_more: boolean;
  next: string | null;
}
