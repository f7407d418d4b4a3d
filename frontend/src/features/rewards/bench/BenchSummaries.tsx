/** One card per definition, and what the judges took. */
import { Paper, Text, Title } from "@mantine/core";
import type { BenchJob, BenchJudge, BenchSummary } from "@/api/model";
import { DASH, formatCount, formatNumber, formatPercent } from "@/lib/format";
import { Facts } from "@/ui/Facts";
import { errorParts, formatLatency } from "./bench";
import classes from "./bench.module.css";

export function BenchSummaries({ job }: { job: BenchJob }) {
  return (
    <div className={classes.summary} data-testid="bench-summary">
      {job.summary.map((summary, index) => (
        <Card key={index} title={summary.label} place={index + 1} summary={summary} />
      ))}
      {job.judge !== null && job.judge.calls > 0 && <Judge judge={job.judge} />}
    </div>
  );
}

function Card({ title, place, summary }: { title: string; place: number; summary: BenchSummary }) {
  const spread = summary.std === null ? "" : ` ± ${formatNumber(summary.std, 2)}`;
  return (
    <Paper p="md" component="section" aria-label={`Summary of definition ${place}, ${title}`}>
      <Title order={2} size="h3" mb="xs" className="mono">
        {title}
      </Title>
      <Facts
        facts={[
          ["Mean reward", `${formatNumber(summary.mean, 3)}${spread}`],
          ["Success", formatPercent(summary.success_share)],
          ["Errors", <Errors key="errors" count={summary.errors} of={summary.samples} />],
          ["Latency p50", formatLatency(summary.seconds_p50)],
          ["Latency p95", formatLatency(summary.seconds_p95)],
        ]}
      />
      {Object.keys(summary.parts).length > 1 && (
        <Text size="xs" c="dimmed" mt="xs" className="num">
          {Object.entries(summary.parts)
            .map(([name, grade]) => `${name} ${formatNumber(grade, 3)}`)
            .join(" · ")}
        </Text>
      )}
      {summary.error_kinds.map(({ message, count }) => (
        <Text key={message} size="xs" c="var(--c-bad)" mt={4} lineClamp={2}>
          {count} × {errorParts({ error: message, traceback: null }).message}
        </Text>
      ))}
    </Paper>
  );
}

function Errors({ count, of }: { count: number; of: number }) {
  return (
    <Text span inherit c={count > 0 ? "var(--c-bad)" : undefined}>
      {count} of {of}
    </Text>
  );
}

function Judge({ judge }: { judge: BenchJudge }) {
  return (
    <Paper p="md" component="section" aria-label="Judge" data-testid="bench-judge">
      <Title order={2} size="h3" mb="xs">
        Judge
      </Title>
      <Facts
        facts={[
          ["Questions", `${formatCount(judge.calls)}, ${formatCount(judge.cached)} from the cache`],
          ["Tokens", `${formatCount(judge.prompt_tokens)} + ${formatCount(judge.completion_tokens)}`],
          ["Cost", judge.cost === null ? DASH : formatNumber(judge.cost, 3)],
          ["Latency", `${formatLatency(judge.seconds_p50)}, p95 ${formatLatency(judge.seconds_p95)}`],
          ["Agrees with itself", formatPercent(judge.agreement_repeat)],
          ["Agrees when swapped", formatPercent(judge.agreement_swap)],
        ]}
      />
    </Paper>
  );
}
