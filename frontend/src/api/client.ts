/** The generated client with the documents of `model.ts`, which have their types from it. */
import { newKey } from "@/lib/key";
import * as api from "./generated/dressage";
import type * as G from "./generated/dressage.schemas";
import type { GpuEnum, Json, JsonSchema, Spec } from "./model";

type Signal = AbortSignal | undefined;
const key = (given?: string) => ({ "Idempotency-Key": given ?? newKey() });

/** What of the audit log is asked for. */
export type AuditFilter = Pick<G.ListAuditEntriesParams, "actor" | "action">;

export const session = {
  read: (signal: Signal) => api.getSession({ signal }),
  signIn: (body: G.LoginRequest) => api.signIn(body),
  beginOidc: () => api.beginOidc(),
  passkeyOptions: () => api.beginPasskeySignIn(),
  signInWithPasskey: (credential: G.CredentialRequest["credential"]) => api.signInWithPasskey({ credential }),
  giveCode: (code: string) => api.giveCode({ code }),
  signOut: () => api.signOut(),
  chooseTeam: (team: string) => api.chooseTeam({ team }),
  changePassword: (body: G.PasswordRequest) => api.changePassword(body),
};

export const account = {
  sessions: (signal: Signal) => api.listSessions({ limit: 200 }, { signal }),
  secondFactors: (signal: Signal) => api.getSecondFactors({ signal }),
  passkeys: (signal: Signal) => api.listPasskeys({ limit: 200 }, { signal }),
  beginPasskey: (body: G.BeginPasskeyRequest) => api.beginPasskey(body),
  addPasskey: (body: G.AddPasskeyRequest) => api.addPasskey(body),
  removePasskey: (id: string, body: G.ProofRequest) => api.removePasskey(id, body),
  beginTotp: (current: string) => api.beginTotp({ current }),
  confirmTotp: (code: string) => api.confirmTotp({ code }),
  turnTotpOff: (body: G.ProofRequest) => api.turnTotpOff(body),
  renewRecoveryCodes: (body: G.ProofRequest) => api.renewRecoveryCodes(body),
  endSession: (id: string) => api.endSession(id),
  devicePass: () => api.makeDevicePass(),
  endOtherSessions: () => api.endOtherSessions(),
  events: (after: string | null, signal: Signal) => api.listAccountEvents({ limit: 20, ...page(after) }, { signal }),
};

/** What the holder of an invitation's token may do, signed in or not. The token comes from the address of a page. */
export const invitation = {
  read: (token: string, signal: Signal) => api.readInvitation(encodeURIComponent(token), { signal }),
  accept: (token: string, body: G.AcceptInvitationRequest) => api.acceptInvitation(encodeURIComponent(token), body),
};

export const team = {
  members: (signal: Signal) => api.listMembers({ limit: 200 }, { signal }),
  invitations: (signal: Signal) => api.listInvitations({ limit: 200 }, { signal }),
  invite: (body: G.InviteRequest) => api.invite(body, key()),
  inviteAgain: (id: string) => api.resendInvitation(id, key()),
  withdrawInvitation: (id: string) => api.withdrawInvitation(id),
  changeRole: (id: string, role: G.Member["role"]) => api.changeMemberRole(id, { role }),
  removeMember: (id: string) => api.removeMember(id),
  tokens: (signal: Signal) => api.listTokens({ limit: 200 }, { signal }),
  createToken: (body: G.CreateTokenRequest) => api.createToken(body, key()),
  tokenOptions: (signal: Signal) => api.getTokenOptions({ signal }),
  handOverToken: (id: string, account: string) => api.handOverToken(id, { service_account: account }),
  revokeToken: (id: string) => api.revokeToken(id),
  serviceAccounts: (signal: Signal) => api.listServiceAccounts({ limit: 200 }, { signal }),
  createServiceAccount: (body: G.CreateServiceAccountRequest) => api.createServiceAccount(body, key()),
  updateServiceAccount: (id: string, body: G.PatchedUpdateServiceAccountRequest) => api.updateServiceAccount(id, body),
  audit: (filter: AuditFilter, after: string | null, signal: Signal) =>
    api.listAuditEntries({ limit: 50, ...filter, ...page(after) }, { signal }),
  verifyAudit: (signal: Signal) => api.verifyAudit({ signal }),
};

export const clusters = {
  list: (signal: Signal) => api.listClusters({ signal }),
  gpuHours: (signal: Signal) => api.getTeamGpuHours({ signal }),
};

export type DeriveBody = G.DeriveRequest;

export const datasets = {
  usage: (signal: Signal) => api.getDatasetUsage({ signal }),
  list: (signal: Signal) => api.listDatasets({ limit: 200 }, { signal }),
  read: (id: string, signal: Signal) => api.getDataset(id, { signal }),
  rows: (id: string, version: number, params: G.ListDatasetRowsParams, signal?: Signal) =>
    api.listDatasetRows(id, version, params, { signal }),
  search: (id: string, version: number, body: G.SearchRowsRequest, signal: Signal) =>
    api.searchDatasetRows(id, version, body, { signal }),
  rowValues: (id: string, version: number, signal: Signal) => api.listDatasetRowValues(id, version, { signal }),
  row: (id: string, version: number, index: number, signal: Signal) =>
    api.getDatasetRow(id, version, index, { signal }),
  rowHistory: (id: string, version: number, index: number, signal: Signal) =>
    api.getRowHistory(id, version, index, { signal }),
  notes: (id: string, version: number, signal: Signal) => api.listRowNotes(id, version, { limit: 200 }, { signal }),
  create: (body: G.CreateDatasetRequest) => api.createDataset(body, key()),
  createVersion: (id: string, body: G.UploadRequest) => api.createDatasetVersion(id, body, key()),
  preview: (body: G.PreviewRequestRequest, signal: Signal) => api.previewDataset(body, { signal }),
  derive: (id: string, version: number, body: DeriveBody, idempotencyKey?: string) =>
    api.deriveDatasetVersion(id, version, body, key(idempotencyKey)),
  diff: (id: string, version: number, params: G.DiffDatasetVersionsParams, signal: Signal) =>
    api.diffDatasetVersions(id, version, params, { signal }),
  removeVersion: (id: string, version: number) => api.deleteDatasetVersion(id, version),
  remove: (id: string) => api.deleteDataset(id),
  writeCard: (id: string, revision: number, body: G.WriteDatasetCardRequest) =>
    api.writeDatasetCard(id, body, { "If-Match": `"${revision}"` }),
};

export const datasetShares = {
  list: (id: string, signal: Signal) => api.listDatasetShares(id, { limit: 200 }, { signal }),
  create: (id: string, body: G.OfferDatasetRequest) => api.offerDataset(id, body, key()),
  revoke: (id: string, share: string) => api.revokeDatasetShare(id, share),
  received: (signal: Signal) => api.listSharedDatasets({ limit: 200 }, { signal }),
  offer: (secret: string, signal: Signal) => api.readDatasetOffer(encodeURIComponent(secret), { signal }),
  accept: (secret: string, body: G.AcceptDatasetRequest) => api.acceptDataset(encodeURIComponent(secret), body, key()),
};

export const datasetImports = {
  list: (signal: Signal) => api.listDatasetImports({ limit: 50 }, { signal }),
  listing: (body: G.PlaceRequest, signal: Signal) => api.listImportableFiles(body, { signal }),
  start: (body: G.StartDatasetImportRequest) => api.startDatasetImport(body, key()),
  preview: (id: string, body: G.HowToReadRequest, signal: Signal) => api.previewDatasetImport(id, body, { signal }),
  read: (id: string, body: G.HowToReadRequest) => api.readDatasetImport(id, body, key()),
  report: (id: string) => api.getDatasetImportReport(id),
  cancel: (id: string) => api.cancelDatasetImport(id, key()),
  retry: (id: string) => api.retryDatasetImport(id, key()),
};

export const datasetSources = {
  read: (signal: Signal) => api.getDatasetSources({ signal }),
};

export const datasetUploads = {
  list: (signal: Signal) => api.listDatasetUploads({ limit: 200 }, { signal }),
  read: (id: string, signal?: Signal) => api.getDatasetUpload(id, { signal }),
  start: (body: G.StartUploadRequest, given: string) => api.startDatasetUpload(body, key(given)),
  /** Sends the bytes that begin at `offset`; `checksum` as in tus, or null. */
  send: (id: string, offset: number, part: Blob, checksum: string | null, signal: Signal) =>
    api.sendDatasetUploadPart(
      id,
      part,
      { "Upload-Offset": String(offset), ...(checksum === null ? {} : { "Upload-Checksum": checksum }) },
      { signal },
    ),
  cancel: (id: string) => api.cancelDatasetUpload(id),
};

export const datasetMappings = {
  list: (signal: Signal) => api.listDatasetMappings({ limit: 200 }, { signal }),
  create: (body: G.CreateSavedMappingRequest) => api.createDatasetMapping(body, key()),
  change: (id: string, body: G.PatchedUpdateSavedMappingRequest) => api.updateDatasetMapping(id, body),
  remove: (id: string) => api.deleteDatasetMapping(id),
};

export const chartViews = {
  list: (signal: Signal) => api.listChartViews({ limit: 200 }, { signal }),
  create: (body: G.CreateChartViewRequest) => api.createChartView(body, key()),
  change: (id: string, body: G.PatchedUpdateChartViewRequest) => api.updateChartView(id, body),
  remove: (id: string) => api.deleteChartView(id),
};

export const reports = {
  list: (after: string | null, signal: Signal) => api.listReports({ limit: 100, ...page(after) }, { signal }),
  read: (id: string, signal: Signal) => api.getReport(id, { signal }),
  create: (body: G.CreateReportRequest) => api.createReport(body, key()),
  change: (id: string, revision: number, body: G.PatchedUpdateReportRequest) =>
    api.updateReport(id, body, { "If-Match": `"${revision}"` }),
  remove: (id: string) => api.deleteReport(id),
  revisions: (id: string, signal: Signal) => api.listReportRevisions(id, { limit: 200 }, { signal }),
  revision: (id: string, number: number, signal: Signal) => api.getReportRevision(id, number, { signal }),
};

export type LabOperation = G.StartLabJobRequest["operation"];

export type LabCriterion = Extract<LabOperation, { kind: "quality" }>["items"][number];

export const lab = {
  list: (id: string, version: number, signal: Signal) => api.listLabJobs(id, version, { limit: 50 }, { signal }),
  read: (job: string, signal: Signal) => api.getLabJob(job, { signal }),
  start: (id: string, version: number, body: G.StartLabJobRequest) => api.startLabJob(id, version, body, key()),
  cancel: (job: string) => api.cancelLabJob(job, key()),
  resume: (job: string) => api.resumeLabJob(job, key()),
  undo: (job: string) => api.undoLabJob(job, key()),
  marks: (job: string, threshold: number, signal: Signal) => api.getLabMarks(job, { threshold }, { signal }),
  mark: (job: string, marks: G.MarkRowsRequest["marks"]) => api.markLabRows(job, { marks }),
};

export const rewards = {
  list: (signal: Signal) => api.listRewards({ limit: 200 }, { signal }),
  read: (id: string, signal: Signal) => api.getReward(id, { signal }),
  schema: (signal: Signal) => api.getRewardSchema({ signal }) as Promise<JsonSchema>,
  create: (name: string, definition: Spec) => api.createReward({ name, definition }, key()),
  createVersion: (id: string, definition: Spec, note: string) =>
    api.createRewardVersion(id, { note, definition }, key()),
  score: (body: {
    definition: Spec;
    samples: { output_text: string; item: { [key: string]: Json }; completion_tokens?: number }[];
  }) => api.scoreSamples(body),
};

export type BenchBody = G.CreateBenchJobRequest;

export const bench = {
  list: (signal: Signal) => api.listRewardBenches({ limit: 50 }, { signal }),
  read: (id: string, signal: Signal) => api.getRewardBench(id, { signal }),
  create: (body: BenchBody) => api.createRewardBench(body, key()),
};

export type RehearsalBody = G.CreateRehearsalRequest;
export type RehearsalPlace = Pick<RehearsalBody, "cluster" | "run">;

export const rehearsals = {
  list: (signal: Signal) => api.listRehearsals({ limit: 20 }, { signal }),
  read: (id: string, signal: Signal) => api.getRehearsal(id, { signal }),
  create: (body: RehearsalBody, idempotencyKey: string) => api.createRehearsal(body, key(idempotencyKey)),
  cancel: (id: string) => api.cancelRehearsal(id, key()),
};

export const profiles = {
  list: (dataset: string, version: number, signal: Signal) =>
    api.listProfiles(dataset, version, { limit: 50 }, { signal }),
  read: (id: string, signal: Signal) => api.getProfile(id, { signal }),
  cost: (body: G.ProfileCostBodyRequest) => api.costProfile(body),
  create: (body: G.CreateProfileRequest, idempotencyKey: string) => api.createProfile(body, key(idempotencyKey)),
  cancel: (id: string) => api.cancelProfile(id, key()),
  derive: (id: string, body: G.DeriveFromProfileRequest, idempotencyKey: string) =>
    api.deriveFromProfile(id, body, key(idempotencyKey)),
  review: (id: string, signal: Signal) => api.getReview(id, { signal }),
  say: (id: string, body: G.SayVerdictsRequest) => api.sayVerdicts(id, body),
  deriveFromReview: (id: string, body: G.DeriveFromReviewRequest, idempotencyKey: string) =>
    api.deriveFromReview(id, body, key(idempotencyKey)),
};

export const goldilocks = {
  list: (dataset: string, version: number, signal: Signal) =>
    api.listGoldilocks(dataset, version, { limit: 20 }, { signal }),
  cost: (body: G.StartGoldilocksRequest) => api.startGoldilocks({ ...body, dry_run: true }),
  start: (body: G.StartGoldilocksRequest, idempotencyKey: string) => api.startGoldilocks(body, key(idempotencyKey)),
  cancel: (id: string) => api.cancelGoldilocks(id, key()),
  undo: (id: string) => api.undoGoldilocks(id, key()),
};

export const proposals = {
  list: (reward: string, state: G.RubricProposal["state"] | undefined, signal: Signal) =>
    api.listRubricProposals(reward, { limit: 200, ...(state ? { state } : {}) }, { signal }),
  accept: (reward: string, id: string, body: G.AcceptProposalRequest) =>
    api.acceptRubricProposal(reward, id, body, key()),
  retire: (reward: string, id: string, note: string) => api.retireRubricProposal(reward, id, { note }, key()),
};

export const judges = {
  list: (signal: Signal) => api.listJudgeEndpoints({ limit: 200 }, { signal }),
  create: (body: G.CreateJudgeEndpointRequest) => api.createJudgeEndpoint(body, key()),
  update: (id: string, body: G.PatchedUpdateJudgeEndpointRequest) => api.updateJudgeEndpoint(id, body),
  remove: (id: string) => api.deleteJudgeEndpoint(id),
};

export const policies = {
  list: (signal: Signal) => api.listPolicies({ limit: 200 }, { signal }),
  register: (name: string, path: string) => api.registerPolicy({ name, path }, key()),
  read: (id: string, signal: Signal) => api.getPolicy(id, { signal }),
  facts: (id: string, signal: Signal) => api.getPolicyFacts(id, { signal }),
  fromCheckpoint: (checkpoint: string, name: string, idempotencyKey: string) =>
    api.registerCheckpoint(checkpoint, { name }, key(idempotencyKey)),
};

export const policyImports = {
  list: (signal: Signal) => api.listPolicyImports({ limit: 50 }, { signal }),
  start: (body: G.StartImportRequest) => api.startPolicyImport(body, key()),
  cancel: (id: string) => api.cancelPolicyImport(id, key()),
  retry: (id: string) => api.retryPolicyImport(id, key()),
};

export const policySources = {
  read: (signal: Signal) => api.getPolicySources({ signal }),
  setHubToken: (token: string) => api.setHubToken({ token }),
  forgetHubToken: () => api.forgetHubToken(),
  setBucketKeys: (body: G.SetBucketKeysRequest) => api.setBucketKeys(body),
  forgetBucketKeys: () => api.forgetBucketKeys(),
};

export type RunAct = "start" | "pause" | "resume" | "cancel" | "checkpoint" | "release" | "measureNoise";
const ACTS = {
  start: api.startRun,
  pause: api.pauseRun,
  resume: api.resumeRun,
  cancel: api.cancelRun,
  checkpoint: api.checkpointRun,
  release: api.releaseRun,
  measureNoise: api.measureRunNoise,
};

export const home = {
  read: (signal: Signal) => api.getHome({ signal }),
};

export const runs = {
  list: (state: string | undefined, signal: Signal) =>
    api.listRuns({ limit: 100, ...(state ? { state } : {}) }, { signal }),
  read: (id: string, signal: Signal) => api.getRun(id, { signal }),
  byId: (ids: string[], signal: Signal) => api.listRunsById({ runs: ids.join(",") }, { signal }),
  create: (body: { name: string; spec: Spec; start: boolean; cluster?: string | null }, idempotencyKey: string) =>
    api.createRun(body, key(idempotencyKey)),
  fork: (
    id: string,
    body: { name: string; spec: Spec; checkpoint: string | null; cluster?: string | null },
    idempotencyKey: string,
  ) => api.forkRun(id, body, key(idempotencyKey)),
  rename: (id: string, name: string) => api.updateRun(id, { name }),
  act: (id: string, act: RunAct) => ACTS[act](id, key()),
  checkpoints: (id: string, signal: Signal) => api.listCheckpoints(id, { limit: 200 }, { signal }),
  incidents: (id: string, signal: Signal) => api.listIncidents(id, { signal }),
};

export const controls = {
  targets: (id: string, signal: Signal) => api.listTargets(id, { signal }),
  list: (id: string, signal: Signal) => api.listControls(id, { limit: 200 }, { signal }),
  curriculum: (id: string, signal: Signal) => api.getCurriculum(id, { signal }),
  effect: (id: string, control: string, signal: Signal) => api.getControlEffect(id, control, { signal }),
  previewCurriculum: (id: string, changes: { target: string; value: Json }[], signal: Signal) =>
    api.previewCurriculum(id, { changes }, { signal }),
  previewBatch: (id: string, changes: { target: "rollout.group_size" | "filters"; value: Json }[], signal: Signal) =>
    api.previewBatch(id, { changes }, { signal }),
  /** Several changes are staged as one: all of them or none. Answers with a control for each, in their order. */
  stage: async (
    id: string,
    changes: { target: string; value: Json }[],
    reason: string,
    revision: number,
    when: { apply_at: "next" | number; ramp_steps: number | null } = { apply_at: "next", ramp_steps: null },
  ) => {
    const [only, ...others] = changes;
    const body = {
      reason,
      apply_at: when.apply_at,
      ...(when.ramp_steps === null ? {} : { ramp_steps: when.ramp_steps }),
    };
    const staged = await api.stageControl(
      id,
      only && others.length === 0 ? { ...body, ...only } : { ...body, changes },
      {
        "If-Match": `"${revision}"`,
        ...key(),
      },
    );
    return "data" in staged ? staged.data : [staged];
  },
  cancel: (id: string, control: string) => api.cancelControl(id, control, key()),
  revert: (id: string, control: string, revision: number) =>
    api.revertControl(id, control, {}, key(), { headers: { "If-Match": `"${revision}"` } }),
  rewind: (id: string, control: string) => api.rewindControl(id, control, {}, key()),
};

export const telemetry = {
  names: (id: string, signal: Signal) => api.listMetricNames(id, { signal }),
  namesOfRuns: (ids: string[], signal: Signal) => api.listMetricNamesOfRuns({ runs: ids.join(",") }, { signal }),
  metrics: (id: string, params: G.GetMetricsParams, signal: Signal) => api.getMetrics(id, params, { signal }),
  metricsOfRuns: (ids: string[], params: G.GetMetricsParams, signal: Signal) =>
    api.getMetricsOfRuns({ runs: ids.join(","), ...params }, { signal }),
  rollouts: (id: string, params: G.ListRolloutsParams, signal: Signal) => api.listRollouts(id, params, { signal }),
  groups: (id: string, params: G.ListGroupsParams, signal: Signal) => api.listGroups(id, params, { signal }),
  kept: (id: string, signal: Signal) => api.retrieveKeptRollouts(id, { signal }),
  tokens: (id: string, rollout: string, signal: Signal) => api.retrieveRolloutTokens(id, rollout, { signal }),
  events: (id: string, params: G.ListEventsParams, signal: Signal) => api.listEvents(id, params, { signal }),
};

export const spec = {
  schema: (signal: Signal) => api.getSpecSchema({ signal }) as Promise<JsonSchema>,
  recipes: (signal: Signal) => api.listRecipes({ signal }),
  plan: (document: Spec, gpus: number, signal: Signal) => api.planSpec({ spec: document, gpus }, { signal }),
  planOnClusters: (document: Spec, gpu: GpuEnum, price: number | null, signal: Signal) =>
    api.planSpecOnClusters({ spec: document, gpu, ...(price === null ? {} : { price }) }, { signal }),
  validate: (document: Spec) => api.validateSpec({ spec: document }),
};

/** The cursor of a further page. */
export function page(after: string | null): { after?: string } {
  return after === null ? {} : { after };
}
