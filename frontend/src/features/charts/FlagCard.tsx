/** The change behind a flag: old value, author, reason, progress, and how to undo it. */
import { Text } from "@mantine/core";
import type { Run } from "@/api/model";
import { ControlActions } from "@/features/controls/ControlActions";
import { targetLabel } from "@/features/controls/labels";
import { EffectCard } from "@/features/effects/EffectCard";
import { formatTime, formatValue } from "@/lib/format";
import classes from "./lane.module.css";
import { type ControlMark, revisionsText } from "./marks";

interface Props {
  run: Run;
  mark: ControlMark;
  /** Closes the card: a dialog asks, or what it shows has been undone. */
  onClose: () => void;
}

export function FlagCard({ run, mark, onClose }: Props) {
  const { controls } = mark;
  const first = controls[0];
  if (!first) return null;
  const applied = Math.min(...controls.map(one => one.applied_step ?? 0));
  const settled = controls.every(one => one.settled_step !== null)
    ? Math.max(...controls.map(one => one.settled_step ?? 0))
    : null;
  return (
    <article className={classes.change} data-testid="flag-card">
      <dl className={classes.diff} aria-label="Changes">
        {controls.map(control => (
          <div key={control.id}>
            <dt>{targetLabel(control.target)}</dt>
            <dd className="num">
              <del>{formatValue(control.before)}</del> → <ins>{formatValue(control.value)}</ins>
            </dd>
          </div>
        ))}
      </dl>
      {first.reason && <Text size="xs">“{first.reason}”</Text>}
      <Text size="xs" c="dimmed">
        {first.actor} · {formatTime(first.created_at)} · {revisionsText(controls)}
      </Text>
      <Text size="xs" c="dimmed" className="num">
        {progressOf(applied, settled)}
      </Text>
      <EffectCard run={run} control={first} />
      <ControlActions run={run} controls={controls} onClose={onClose} />
    </article>
  );
}

/** Where it took effect, and which batches hold groups of both revisions. */
export function progressOf(applied: number, settled: number | null): string {
  if (settled === null) return `applied at step ${applied}, settling: batches are mixed`;
  if (settled <= applied) return `applied at step ${applied}, in full effect immediately`;
  const mixed =
    settled - 1 === applied ? `batch ${applied} is mixed` : `batches ${applied} to ${settled - 1} are mixed`;
  return `applied at step ${applied}, settled at step ${settled}: ${mixed}`;
}
