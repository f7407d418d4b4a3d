/** What happens now, how far, how fast, and how fresh this is. */
import { Alert, Paper, Progress, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Run } from "@/api/model";
import { isAtWork, isStill } from "@/features/runs/data/states";
import type { RunStream } from "@/features/stream/useRunStream";
import { DASH, formatAgo, formatCount, formatDuration, formatNumber, humanize } from "@/lib/format";
import { useNow } from "@/lib/useNow";
import { PauseText } from "./PauseText";
import { WaitingFact } from "./WaitingFact";
import classes from "./page.module.css";

/** Seconds without a word from the worker after which what is shown counts as stale. */
const STALE_AFTER = 15;

export function PhaseStrip({ run, stream, updatedAt }: { run: Run; stream: RunStream; updatedAt: number }) {
  const now = useNow();
  const active = isAtWork(run.state);
  const age = run.lease_age_s === null ? null : run.lease_age_s + (now - updatedAt) / 1000;
  const lost = stream.status === "lost" && stream.heardAt !== null ? (now - stream.heardAt) / 1000 : null;
  const stale = active ? (lost ?? (age !== null && age > STALE_AFTER ? age : null)) : null;
  const trouble = run.state_reason && (run.state === "failed" || isStill(run.state));
  return (
    <>
      {trouble && (
        <Alert
          color={run.state === "failed" ? "red" : "yellow"}
          icon={<IconAlertTriangle size={18} />}
          py="xs"
          mb="xs"
          data-testid="state-reason"
        >
          {run.state_reason}
          <PauseText run={run} />
        </Alert>
      )}
      <Paper className={classes.strip} component="section" aria-label="Status" data-testid="phase-strip">
        <div className={classes.phase}>
          <PhaseNow run={run} stale={stale} />
        </div>
        <Fact label="Step">
          <span data-testid="step">{run.step.toLocaleString("en-GB")}</span>
          <span style={{ color: "var(--c-text-3)", fontWeight: 400 }}>
            {" "}
            / {run.total_steps.toLocaleString("en-GB")}
          </span>
        </Fact>
        <Fact label="Reward">
          <span data-testid="reward">{formatNumber(run.summary.reward, 3)}</span>
        </Fact>
        <Fact label="Held out">{formatNumber(run.summary.eval, 3)}</Fact>
        <Fact label="Time left">{active ? formatDuration(run.summary.eta_seconds) : DASH}</Fact>
        <Fact label="Per step">{formatDuration(run.summary.seconds_per_step)}</Fact>
        <Fact label="Tokens">{formatCount(run.summary.tokens_total)}</Fact>
        <Fact label="Last checkpoint">{checkpoint(run, now)}</Fact>
      </Paper>
    </>
  );
}

function PhaseNow({ run, stale }: { run: Run; stale: number | null }) {
  const phase = run.progress;
  const active = ["starting", "running"].includes(run.state);
  if (run.state === "queued") {
    return (
      <Fact label="Queue">
        <WaitingFact run={run} />
      </Fact>
    );
  }
  if (!active || !phase) {
    return <Fact label="Phase">{run.state === "starting" ? "starting" : humanize(run.state)}</Fact>;
  }
  return (
    <div>
      <Text size="sm" fw={550} className="num" data-testid="phase">
        {phase.phase}
        {phase.total > 0 && (
          <Text component="span" inherit fw={400} c="dimmed">
            {" "}
            {phase.done}/{phase.total}
          </Text>
        )}
        {stale !== null && (
          <Text component="span" inherit c="var(--c-warn)" ml={8} role="status">
            stale {formatDuration(Math.round(stale))}
          </Text>
        )}
      </Text>
      <Progress
        size={4}
        mt={4}
        value={phase.total > 0 ? (phase.done / phase.total) * 100 : 100}
        color={stale === null ? "petrol" : "yellow"}
        aria-label={`Phase ${phase.phase}`}
      />
    </div>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className={classes.fact}>
      <div className={classes.factLabel}>{label}</div>
      <div className={classes.factValue}>{children}</div>
    </div>
  );
}

function checkpoint(run: Run, now: number): string {
  const last = run.last_checkpoint;
  if (!last) return DASH;
  return `step ${last.step} · ${formatAgo(last.created_at, now)}`;
}
