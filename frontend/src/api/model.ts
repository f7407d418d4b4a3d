/**
 * The platform's documents. Their types come from its OpenAPI document, in which dataclasses of the platform stand as
 * they are; `scripts/client-types.mjs` makes specs plain JSON, because forms hold documents that are not valid yet.
 */
import type * as G from "./generated/dressage.schemas";
import type { Json } from "./generated/dressage.schemas";

export type {
  AskedReport,
  AuditEntry,
  AuditVerification,
  Band,
  BatchPreview,
  BenchDefinition,
  BenchFlag,
  BenchJob,
  BenchJobRow,
  BenchJudge,
  BenchSample,
  BenchScore,
  BenchSummary,
  Checkpoint,
  Cluster,
  ClusterEstimate,
  ClusterPlan,
  ContaminatedRow,
  ContaminationReport,
  Control,
  ControlEffect,
  Curriculum,
  CurriculumPreview,
  Dataset,
  DatasetCard,
  DatasetImport,
  DatasetSources,
  DatasetMapping,
  DatasetOffer,
  DatasetPreview,
  DatasetShare,
  DatasetUpload,
  DatasetUsage,
  DatasetVersion,
  Derived,
  DuplicateCluster,
  DuplicatesReport,
  Explanation,
  FoundRow,
  Goldilocks,
  GoldilocksCost,
  GoldilocksReport,
  GoldilocksStageCost,
  GpuEnum,
  GpuHours,
  Group,
  GroupSample,
  IndexState,
  Invitation,
  Json,
  JudgeEndpoint,
  Kept,
  LabCost,
  LabJob,
  LabReport,
  ScoreBin,
  SharedDataset,
  ShownRow,
  StatisticsReport,
  QualityReport,
  RefusedVariation,
  MemorisationReport,
  MemorisedRow,
  ParaphrasesReport,
  SynthesisReport,
  ReviewerAgreement,
  RowToMark,
  RowWithReason,
  LearnerMemory,
  Marks,
  Memory,
  Member,
  MetricEffect,
  MetricName,
  MetricNameList,
  ModePlan,
  NewInvitation,
  NewToken,
  Offer,
  OneRow,
  Origin,
  Passkey,
  Plan,
  Policy,
  PolicyFacts,
  PolicyImport,
  PolicySource,
  PolicySources,
  PreviewColumn,
  PreviewRow,
  PromptPiece,
  Profile,
  ProfileCost,
  Recipe,
  Rehearsal,
  RehearsalFinding,
  RehearsalGroup,
  Rescored,
  Review,
  RehearsalReport,
  RehearsalRow,
  RehearsalSample,
  Reward,
  RewardVersion,
  Rollout,
  RolloutTokens,
  RowHistory,
  RowNotes,
  RowVerdict,
  RowRun,
  RubricProposal,
  SavedMapping,
  SecondFactors,
  ServiceAccount,
  Session,
  Spec,
  StepTime,
  Target,
  Token,
  TokenOptions,
  TotpKey,
  UserSession,
  Validation,
} from "./generated/dressage.schemas";

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

export type Cost = G.Cost;
export type RunState = G.LiveRun["state"];
export type ControlState = G.Control["state"];
export type Role = G.Member["role"];
export type Scope = G.ScopeEnum;
export type XAxis = G.Metrics["x"];
export type ChartView = G.ChartView;
export type ChartsDocument = G.ChartsDocument;
export type ReportEntry = G.ReportEntry;
export type Report = G.Report;
export type ReportRevision = G.ReportRevision;
export type ReportRevisionEntry = G.ReportRevisionEntry;
export type ReportBlock = G.ReportContentBlocksItem;
export type RunMention = G.ReportContentRunMention;

/** Lists and the live stream leave out the specs. */
export type Run = G.LiveRun & Partial<Pick<G.Run, "spec" | "effective_spec" | "cost">>;
export type Home = G.Home;
export type Incident = G.Incident;
export type MetricEvidence = G.MetricEvidence;
export type Remedy = G.Remedy;
export type Exception = G.Exception;
export type RunEvent = G.RunEvent;
export type MetricSeries = G.MetricSeries;
export type MetricData = Pick<G.Metrics, "x"> & { series: Record<string, MetricSeries> };
export type Row = G.DatasetRow;
export type RowDiff = G.RowDiff;
export type RowValues = G.RowValues;
export type DiffPage = G.DiffPage;
export type TryResult = G.Score;

export interface List<T> {
  object: string;
  data: T[];
  has_more: boolean;
  next: string | null;
}

/** Conditions on rows, as a search and the operation `filter` take them. */
export type RowQuery = G.RowQuery;
export type VerdictBody = G.AskedVerdictRequest;
export type NoteCondition = NonNullable<RowQuery["notes"]>[number];
