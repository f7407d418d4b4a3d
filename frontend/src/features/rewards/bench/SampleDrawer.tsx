/** One sample in full: prompt, answer, and its scores by each definition. */
import { Code, Drawer, Group, Paper, Text, Title } from "@mantine/core";
import { useState } from "react";
import type { BenchDefinition, BenchJob, BenchSample, BenchScore, Json } from "@/api/model";
import { partsOf } from "@/features/rollouts/parts";
import { RewardParts } from "@/features/rollouts/RewardParts";
import rollouts from "@/features/rollouts/rollouts.module.css";
import { splitThinking } from "@/features/rollouts/thinking";
import { getIn } from "@/features/schema-form/pointer";
import { formatNumber, formatValue } from "@/lib/format";
import { Pre } from "@/ui/Pre";
import ui from "@/ui/ui.module.css";
import { Written } from "@/ui/Written";
import { type BenchRow, type ErrorParts, errorParts, formatLatency, probeName, promptOf, sampleNumber } from "./bench";
import classes from "./bench.module.css";
import { Reward } from "./BenchTable";

interface Props {
  job: BenchJob;
  row: BenchRow | null;
  onClose: () => void;
}

export function SampleDrawer({ job, row, onClose }: Props) {
  // What was shown stays while the drawer slides away.
  const [last, setLast] = useState(row);
  if (row !== null && row !== last) setLast(row);
  const shown = row ?? last;
  const title = shown && titleOf(shown.sample);
  return (
    <Drawer opened={row !== null} onClose={onClose} position="right" size="min(920px, 100%)" title={title}>
      {shown && <Body job={job} row={shown} />}
    </Drawer>
  );
}

function titleOf({ id, probe }: BenchSample): string {
  return probe === null ? `Sample ${sampleNumber(id)}` : `Probe: ${probeName(probe)}`;
}

function Body({ job, row }: { job: BenchJob; row: BenchRow }) {
  const { sample, scores, flags } = row;
  const { thinking, answer, closed } = splitThinking(sample.output_text, {
    start: job.thinking.start ?? "<think>",
    end: job.thinking.end ?? "</think>",
    answerStart: job.thinking.answer_start,
  });
  const prompt = promptOf(sample.item);
  return (
    <div data-testid="bench-sample">
      {flags.map(flag => (
        <Text key={flag.label} size="sm" c={flag.severity === "warn" ? "var(--c-warn)" : "dimmed"} mb={4}>
          <span className="mono">{flag.label}</span>: {flag.detail}
        </Text>
      ))}
      <div className={classes.verdicts}>
        {job.definitions.map((definition, index) => (
          <Verdict key={index} place={index + 1} definition={definition} score={scores[index] ?? null} />
        ))}
      </div>
      {prompt && (
        <>
          <div className={ui.caption}>Prompt</div>
          <Written label="Prompt">{prompt}</Written>
        </>
      )}
      {sample.item.answer !== undefined && (
        <>
          <div className={ui.caption}>Reference answer</div>
          <Pre label="Reference answer">{formatValue(sample.item.answer)}</Pre>
        </>
      )}
      {thinking !== null && (
        <>
          <div className={ui.caption}>Thinking {!closed && <span>not closed</span>}</div>
          <Written label="Thinking" className={rollouts.thinking}>
            {thinking.trim()}
          </Written>
        </>
      )}
      <div className={ui.caption}>
        Answer
        <span className="num">
          {sample.completion_tokens === null ? "" : `${sample.completion_tokens} tokens · `}
          {sample.finish_reason}
        </span>
      </div>
      <Written label="Answer">{answer.trim()}</Written>
      <details style={{ marginTop: 12 }}>
        <summary style={{ fontSize: 12, cursor: "pointer" }}>The dataset row</summary>
        <Pre label="The dataset row">{JSON.stringify(sample.item, null, 2)}</Pre>
      </details>
      {sample.stored?.rollout && (
        <Text size="xs" c="dimmed" mt="xs" className="num">
          Rollout {sample.stored.rollout} of step {sample.stored.step}, scored {formatNumber(sample.stored.reward)} by{" "}
          <span className="mono">{sample.stored.reward_version ?? "the run"}</span>
        </Text>
      )}
    </div>
  );
}

interface VerdictProps {
  place: number;
  definition: BenchDefinition;
  score: BenchScore | null;
}

function Verdict({ place, definition, score }: VerdictProps) {
  const parts = partsOf(score?.parts ?? {}, explanationOf(definition, score));
  return (
    <Paper p="sm" component="section" aria-label={`Score by definition ${place}, ${definition.label}`}>
      <Group justify="space-between" wrap="nowrap" mb={4}>
        <Title order={3} className="mono">
          {definition.label}
        </Title>
        <Group gap="sm" wrap="nowrap">
          <Reward score={score} />
          <Text size="xs" c="dimmed" className="num">
            {formatLatency(score?.seconds)}
          </Text>
        </Group>
      </Group>
      <RewardParts label={`Parts by ${definition.label}`} parts={parts} told />
      {score && score.forgiven.length > 0 && (
        <Text size="xs" c="var(--c-warn)" mt={4}>
          Failed and counted as 0: {score.forgiven.join(", ")}
        </Text>
      )}
      {score?.error && <Failure {...errorParts(score)} />}
    </Paper>
  );
}

function Failure({ message, traceback }: ErrorParts) {
  return (
    <>
      <Text size="sm" c="var(--c-bad)" mt={4} role="alert" data-testid="bench-error">
        {message}
      </Text>
      {traceback && (
        <details>
          <summary style={{ fontSize: 12, cursor: "pointer" }}>Traceback</summary>
          <Code block fz={11} data-testid="bench-traceback">
            {traceback}
          </Code>
        </details>
      )}
    </>
  );
}

/** Weights and reasons; for jobs without reasons, the definition's weights alone. */
function explanationOf(definition: BenchDefinition, score: BenchScore | null) {
  const told = score?.explanation ?? {};
  const known = Object.keys(score?.parts ?? {}).flatMap((name): [string, { weight: number; reason: null }][] => {
    const weight = weightOf(definition, name);
    return weight === null ? [] : [[name, { weight, reason: null }]];
  });
  return { ...Object.fromEntries(known), ...told };
}

function weightOf(definition: BenchDefinition, name: string): number | null {
  const components = getIn(definition.definition, ["components"]);
  const found = Array.isArray(components) ? components.find((one: Json) => getIn(one, ["name"]) === name) : undefined;
  const weight = getIn(found, ["weight"]);
  return typeof weight === "number" ? weight : null;
}
