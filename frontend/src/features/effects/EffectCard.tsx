/** The effect of a change on the run: target metrics, other moved metrics, and confidence. */
import { Skeleton, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Control, ControlEffect, MetricEffect, Run } from "@/api/model";
import { formatNumber } from "@/lib/format";
import { Loaded } from "@/ui/Loaded";
import { EffectPlot } from "./EffectPlot";
import classes from "./effects.module.css";
import { effectQuery } from "./queries";
import { changeText, missing, verdict } from "./verdict";

interface Props {
  run: Run;
  /** Any of those that were made together. */
  control: Control;
}

export function EffectCard({ run, control }: Props) {
  const effect = useQuery(effectQuery(run, control));
  return (
    <section className={classes.card} aria-label="Effect of the change" data-testid="effect-card">
      <Loaded query={effect} skeleton={<Skeleton height={72} />}>
        {found => <Told effect={found} />}
      </Loaded>
    </section>
  );
}

function Told({ effect }: { effect: ControlEffect }) {
  const { before, after } = effect;
  return (
    <>
      <Text size="sm" fw={550} role="status" data-testid="effect-verdict" data-status={effect.status}>
        {verdict(effect)}
      </Text>
      {before && after && before.steps > 0 && after.steps > 0 && (
        <Text size="xs" c="dimmed" className="num">
          Steps {before.first} to {before.last} against {after.first} to {after.last}.
        </Text>
      )}
      {effect.cuts.map(cut => (
        <Text size="xs" c="dimmed" key={cut}>
          {cut}
        </Text>
      ))}
      <Metrics title="Target metrics" metrics={effect.targets} effect={effect} />
      <Metrics title="Also moved" metrics={effect.others} effect={effect} />
      {effect.status === "known" && (
        <details className={classes.method}>
          <summary>How this is calculated</summary>
          {effect.method}
        </details>
      )}
    </>
  );
}

function Metrics({ title, metrics, effect }: { title: string; metrics: MetricEffect[]; effect: ControlEffect }) {
  if (metrics.length === 0) return null;
  return (
    <ul className={classes.metrics} aria-label={title}>
      {metrics.map(one => (
        <li key={one.name} data-testid="effect-metric" data-metric={one.name} data-moved={one.moved}>
          <span className={classes.name} title={one.name}>
            {one.title}
            <small>{one.name}</small>
          </span>
          <EffectPlot one={one} effect={effect} />
          <span className={`${classes.numbers} num`}>
            {formatNumber(one.before)} → {formatNumber(one.after)}
            <small>{one.change === null ? missing(one, effect.needed) : changeText(one)}</small>
          </span>
        </li>
      ))}
    </ul>
  );
}
