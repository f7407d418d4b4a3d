/** A report as Markdown: its texts as they are, and tables of what its charts, results and changed keys show. */
import type { QueryClient } from "@tanstack/react-query";
import type { Report, ReportBlock, ReportContentRunMention, Run } from "@/api/model";
import { AXIS_NAMES, formatX } from "@/features/charts/options";
import { type BlockOf, textOf } from "@/entities/reports/blocks";
import { evaluationKeys, evaluationRows, evaluationsQuery, measuredText } from "@/entities/runs/evaluations";
import { metricNamesQuery, runQuery } from "@/entities/runs/queries";
import { requestMetrics } from "@/entities/runs/requestMetrics";
import { changedKeys } from "@/features/runs/overlay/changed";
import { allMetrics } from "@/features/runs/overlay/overlay";
import { DASH, formatNumber, formatValue } from "@/lib/format";
import { isNotThere } from "@/ui/ErrorState";
import { exportedText, fenced, plainLine } from "./exportedText";
import { formatInstant } from "./instant";

/** Asked for where only the last of them is told. */
const FEW_POINTS = 50;

export async function exported(client: QueryClient, report: Report, origin: string): Promise<string> {
  const { title, blocks } = textOf(report);
  const parts: string[] = [];
  for (const block of blocks) parts.push(await one(client, block, origin));
  const head = `# ${plainLine(title)}\n\nBy ${plainLine(report.created_by)}, revision ${report.revision}, ${formatInstant(report.updated_at)}. ${origin}/reports/${report.id}`;
  return [head, ...parts].join("\n\n") + "\n";
}

async function one(client: QueryClient, block: ReportBlock, origin: string): Promise<string> {
  if (block.type === "text") return exportedText(block.markdown);
  if (block.type === "sample") return sample(block, origin);
  const { runs, gone } = await read(client, block.runs);
  const missing =
    gone.length > 0 ? `\n\nNo longer in the team: ${gone.map(run => plainLine(run.name || run.id)).join(", ")}.` : "";
  if (runs.length === 0) return `(A ${block.type} block)${missing}`;
  if (block.type === "chart") return (await chart(block, runs)) + missing;
  if (block.type === "evaluations") return (await results(client, block, runs)) + missing;
  return differences(runs) + missing;
}

async function read(
  client: QueryClient,
  mentions: ReportContentRunMention[],
): Promise<{ runs: Run[]; gone: ReportContentRunMention[] }> {
  const found = await Promise.all(
    mentions.map(async mention => {
      try {
        return await client.fetchQuery(runQuery(mention.id));
      } catch (error) {
        if (isNotThere(error)) return null;
        throw error;
      }
    }),
  );
  return {
    runs: found.filter(run => run !== null),
    gone: mentions.filter((_, place) => found[place] === null),
  };
}

/** The last value of each metric, of each run. */
async function chart(block: BlockOf<"chart">, runs: Run[]): Promise<string> {
  const x = block.x ?? "step";
  const window = { x, from: block.x_from ?? undefined, to: block.x_to ?? undefined, as_of: block.as_of ?? undefined };
  const found = await Promise.all(
    runs.map(run => requestMetrics(run.id, block.metrics, { ...window, max_points: FEW_POINTS })),
  );
  const rows = block.metrics.map(metric => [
    metric,
    ...found.map(({ series }) => {
      const one = series[metric];
      const last = one ? one.mean.findLastIndex(value => value !== null) : -1;
      return one && last >= 0 ? `${formatNumber(one.mean[last])} @ ${formatX(one.x[last] ?? 0, x)}` : DASH;
    }),
  ]);
  const when = block.as_of
    ? `frozen at ${formatInstant(block.as_of)}`
    : `live, as of ${formatInstant(new Date().toISOString())}`;
  const title = block.title || block.metrics.join(", ");
  return `**${plainLine(title)}** (last values over ${AXIS_NAMES[x].toLowerCase()}; ${when})\n\n${table(["Metric", ...runs.map(run => run.name)], rows)}`;
}

async function results(client: QueryClient, block: BlockOf<"evaluations">, runs: Run[]): Promise<string> {
  const names = await Promise.all(runs.map(run => client.fetchQuery(metricNamesQuery(run.id))));
  const metrics = allMetrics(names);
  const keys = evaluationKeys(metrics);
  if (keys.length === 0) return "**Held-out evaluations**: none of these runs was evaluated.";
  const found = await Promise.all(
    runs.map(run => client.fetchQuery(evaluationsQuery(run.id, keys, block.as_of ?? undefined))),
  );
  const rows = evaluationRows(metrics, found).map(row => [
    `${row.source}, ${row.title}`,
    ...row.runs.map(run => (run ? measuredText(run.last) : "not evaluated")),
  ]);
  return `**Held-out evaluations** (newest results; brackets are 95 % intervals over prompts)\n\n${table(["Of", ...runs.map(run => run.name)], rows)}`;
}

function differences(runs: Run[]): string {
  const rows = changedKeys(runs.map(run => run.effective_spec ?? null)).map(({ path, values }) => [
    path.join("."),
    ...values.map(value => (value === undefined ? "absent" : formatValue(value))),
  ]);
  if (rows.length === 0) return "**What differs**: nothing; the specs in force are the same.";
  return `**What differs**\n\n${table(["Key", ...runs.map(run => run.name)], rows)}`;
}

function sample({ run, step, group, number, reward, note, prompt, completion }: BlockOf<"sample">, origin: string) {
  const head = `**${plainLine(run.name || run.id)}, step ${step}, sample ${number + 1}**, reward ${reward === null || reward === undefined ? "not computed" : formatNumber(reward)}`;
  const link = `${origin}/runs/${run.id}?tab=rollouts&group=${encodeURIComponent(`${group}:${number}`)}`;
  return [
    `${head} (${link})`,
    note ? plainLine(note) : "",
    ...(prompt ? ["Prompt:", fenced(prompt)] : []),
    ...(completion ? ["Completion:", fenced(completion)] : []),
  ]
    .filter(Boolean)
    .join("\n\n");
}

/** A table of GitHub's Markdown. */
export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map(plainLine).join(" | ")} |`;
  return [line(head), `|${" --- |".repeat(head.length)}`, ...rows.map(line)].join("\n");
}
