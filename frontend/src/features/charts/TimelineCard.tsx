/** The phases of the last steps on a common clock: who worked, who waited. */
import { Group, Paper, Text, Title, Tooltip } from "@mantine/core";
import { IconInfoCircle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { timelineQuery } from "@/entities/runs/queries";
import type { Span, StepSpans } from "@/entities/runs/timeline";
import { formatNumber } from "@/lib/format";
import { Loaded } from "@/ui/Loaded";
import classes from "./timeline.module.css";
import { busyShare, layout, type Timeline } from "./timeline";

const HINT =
  "Each bar is the work of one process during the last steps, on a common clock. Gaps are waiting time. The percentage is " +
  "the share of the time shown that the lane was busy.";

export function TimelineCard({ runId }: { runId: string }) {
  return (
    <Loaded query={useQuery(timelineQuery(runId))} skeleton={null}>
      {steps => <Card steps={steps} />}
    </Loaded>
  );
}

function Card({ steps }: { steps: StepSpans[] }) {
  const timeline = layout(steps);
  if (timeline === null) return null;
  return (
    <Paper component="section" aria-label="Timeline" className={classes.card} data-testid="timeline">
      <div className={classes.head}>
        <Title order={2} size="h3">
          Timeline
        </Title>
        <Text size="xs" c="dimmed">
          last {steps.length} steps
        </Text>
        <Tooltip label={HINT} multiline maw={320} events={{ hover: true, focus: true, touch: true }}>
          <span tabIndex={0} role="note" aria-label={HINT} style={{ display: "inline-flex", borderRadius: 8 }}>
            <IconInfoCircle size={14} color="var(--c-text-3)" aria-hidden="true" />
          </span>
        </Tooltip>
        <Group gap={12} ml="auto">
          {timeline.phases.map((phase, index) => (
            <span key={phase} className={classes.entry}>
              <span className={classes.swatch} style={{ background: color(index) }} aria-hidden="true" />
              {phase}
            </span>
          ))}
        </Group>
      </div>
      {timeline.lanes.map(lane => (
        <Lane key={lane} lane={lane} timeline={timeline} />
      ))}
      <div className={classes.axis}>
        <span>0 s</span>
        <span>{formatNumber(timeline.to - timeline.from)} s</span>
      </div>
    </Paper>
  );
}

function Lane({ lane, timeline }: { lane: string; timeline: Timeline }) {
  const width = timeline.to - timeline.from || 1;
  const share = `${Math.round(100 * busyShare(timeline, lane))} %`;
  const place = (span: Span) => ({
    left: `${(100 * (span.start - timeline.from)) / width}%`,
    width: `max(1px, ${(100 * (span.end - span.start)) / width}%)`,
    background: color(timeline.phases.indexOf(span.phase)),
  });
  return (
    <div className={classes.lane} role="img" aria-label={`${lane}: busy ${share} of the time`}>
      <span className={classes.name}>{lane}</span>
      <span className={classes.track}>
        {timeline.spans
          .filter(span => span.lane === lane)
          .map(span => (
            <span
              key={`${span.step}/${span.phase}/${span.start}`}
              className={classes.span}
              style={place(span)}
              title={`step ${span.step} · ${span.phase} · ${formatNumber(span.end - span.start)} s`}
            />
          ))}
      </span>
      <span className={classes.share}>{share}</span>
    </div>
  );
}

function color(index: number): string {
  return `var(--c-s${index % 6})`;
}
