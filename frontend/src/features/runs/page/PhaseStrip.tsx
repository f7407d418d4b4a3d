/** The run's phase, progress, speed, cost and freshness, on one line on wide screens. */
import { Alert, Paper, Progress, Text, Tooltip } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Run } from "@/api/model";
import { useFigures } from "@/entities/runs/figures";
import { samples } from "@/entities/runs/objective";
import { isAtWork, isStill } from "@/entities/runs/states";
import { DASH, formatAgo, formatCount, formatDuration, formatNumber, humanize, percentOf } from "@/lib/format";
import { useNow } from "@/lib/useNow";
import { PauseText } from "./PauseText";
import { costText, doing, phaseAge, shareDone, timeLeft } from "./phases";
import { WaitingFact } from "./WaitingFact";
import classes from "./strip.module.css";

/** Seconds without a message from the worker after which the page counts as stale. */
const STALE_AFTER = 15;

interface Props {
  run: Run;
  updatedAt: number;
  /** When the platform was heard last, in milliseconds; null while it is heard. */
  lostSince: number | null;
}

export function PhaseStrip({ run, lostSince, updatedAt }: Props) {
  const now = useNow();
  const figures = useFigures(run);
  const active = isAtWork(run.state);
  const age = run.lease_age_s === null ? null : run.lease_age_s + (now - updatedAt) / 1000;
  const lost = lostSince === null ? null : Math.max(0, now - lostSince) / 1000;
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
      <Paper
        className={classes.strip}
        component="section"
        aria-label="Status"
        data-testid="phase-strip"
        data-stale={lost !== null || undefined}
      >
        <PhaseNow run={run} stale={stale} now={now} />
        <Fact label="Step">
          <span data-testid="step">{run.step.toLocaleString("en-GB")}</span>
          <span className={classes.faint}> / {run.total_steps.toLocaleString("en-GB")}</span>
        </Fact>
        <Fact label={figures.label}>
          <span data-testid={samples(run) ? "reward" : "figure"}>{formatNumber(figures.value, 3)}</span>
        </Fact>
        <Fact
          label="Held-out"
          hint={samples(run) ? undefined : `${figures.label} on held-out rows: mean of all sources.`}
        >
          <span data-testid="held-out">{formatNumber(figures.heldOut, 3)}</span>
        </Fact>
        <Fact label="Time left" hint="An 80 % range, if steps keep taking as long as the last ones.">
          {active ? timeLeft(run.summary) : DASH}
        </Fact>
        <Fact label="Step time">{formatDuration(run.summary.seconds_per_step)}</Fact>
        <Fact label="Tokens">{formatCount(run.summary.tokens_total)}</Fact>
        <Fact label="Cost" hint={costHint(run)}>
          {costText(run.cost)}
        </Fact>
        <Fact label="Saved">{checkpoint(run, now)}</Fact>
      </Paper>
    </>
  );
}

function PhaseNow({ run, stale, now }: { run: Run; stale: number | null; now: number }) {
  const phase = run.progress;
  if (run.state === "queued") {
    return (
      <div className={classes.phase}>
        <WaitingFact run={run} />
      </div>
    );
  }
  const isActive = run.state === "starting" || run.state === "running";
  const { age, p95, isLate } = phaseAge(run, now);
  const share = isActive ? shareDone(phase) : null;
  return (
    <div className={classes.phase}>
      <Text component="div" className={classes.phaseText} data-testid="phase" data-late={isLate || undefined}>
        {!isActive || !phase ? (
          humanize(run.state)
        ) : (
          <>
            {doing(phase.phase)}{" "}
            {age !== null && (
              <span className={isLate ? classes.late : undefined}>{formatDuration(Math.round(age))}</span>
            )}
            {p95 !== null && <span className={classes.faint}>, p95 {formatDuration(p95)}</span>}
            {phase.total > 0 && (
              <span className={classes.faint}>
                {" "}
                · {phase.done}/{phase.total}
              </span>
            )}
          </>
        )}
        {stale !== null && (
          <Text component="span" inherit c="var(--c-warn)" ml={8} role="status">
            stale {formatDuration(Math.round(stale))}
          </Text>
        )}
      </Text>
      {share === null ? (
        <div className={classes.noBar} />
      ) : (
        <Progress
          size={3}
          value={percentOf(share, 1)}
          color={stale === null && !isLate ? "petrol" : "yellow"}
          aria-label={`Progress of ${doing(phase?.phase ?? "")}`}
        />
      )}
    </div>
  );
}

function Fact({ label, hint, children }: { label: string; hint?: string; children: ReactNode }) {
  return (
    <Tooltip label={hint} disabled={!hint} multiline maw={300} events={{ hover: true, focus: false, touch: true }}>
      <div className={classes.fact}>
        <span className={classes.label}>{label}</span> <span className={classes.value}>{children}</span>
        {hint && <span className="sr-only">{hint}</span>}
      </div>
    </Tooltip>
  );
}

function costHint({ cost }: Run): string | undefined {
  if (!cost) return undefined;
  const held = `Slot time: ${formatDuration(cost.place_hours * 3600)}`;
  if (cost.gpu_hours === 0) return `${held}, without GPUs.`;
  return `${held}. Cost: GPUs times the hours they were held${cost.price === null ? "." : ", at the installation’s price."}`;
}

function checkpoint(run: Run, now: number): string {
  const last = run.last_checkpoint;
  if (!last) return DASH;
  return `step ${last.step} · ${formatAgo(last.created_at, now)}`;
}
