/** A lane of flags over all charts: who changed what, and where on the x axis. */
import { Popover, UnstyledButton } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useState } from "react";
import type { Run, XAxis } from "@/api/model";
import { targetLabel } from "@/features/controls/labels";
import { isCostAxis } from "./axes";
import classes from "./lane.module.css";
import { FlagCard } from "./FlagCard";
import { type ControlMark, type Flag, flagsOf } from "./marks";
import { formatX } from "./options";

interface Props {
  run: Run;
  marks: ControlMark[];
  /** What the charts reach over. */
  range: [number, number];
  xAxis: XAxis;
}

export function AnnotationLane({ run, marks, range, xAxis }: Props) {
  const { ref, width } = useElementSize<HTMLDivElement>();
  // Each step of a live run moves all flags a little: under a pointer they stand still, so that a click meets its flag.
  const [held, setHeld] = useState<Pick<Props, "range" | "xAxis"> | null>(null);
  const shown = held?.xAxis === xAxis ? held.range : range;
  return (
    <section
      className={classes.lane}
      aria-label="Changes to this run"
      data-testid="annotation-lane"
      onPointerEnter={() => setHeld({ range, xAxis })}
      onPointerLeave={() => setHeld(null)}
    >
      <span className={classes.edge}>{formatX(isCostAxis(xAxis) ? shown[0] : Math.ceil(shown[0]), xAxis)}</span>
      <div className={classes.track} ref={ref}>
        {flagsOf(marks, shown, width).map(flag => (
          <FlagButton key={flag.marks[0]?.id} run={run} flag={flag} />
        ))}
        {marks.length === 0 && <span className={classes.none}>Changes appear here</span>}
      </div>
      <span className={classes.edge}>{formatX(isCostAxis(xAxis) ? shown[1] : Math.floor(shown[1]), xAxis)}</span>
    </section>
  );
}

function FlagButton({ run, flag }: { run: Run; flag: Flag }) {
  const [opened, setOpened] = useState(false);
  const controls = flag.marks.flatMap(mark => mark.controls);
  const targets = [...new Set(controls.map(control => control.target))];
  const steps = controls.map(control => control.applied_step ?? 0);
  const [first, last] = [Math.min(...steps), Math.max(...steps)];
  const where = first === last ? `step ${first}` : `steps ${first} to ${last}`;
  const count = flag.marks.length;
  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      width={340}
      shadow="md"
      position="bottom"
      withArrow
      trapFocus
      returnFocus
      withinPortal
    >
      <Popover.Target>
        <UnstyledButton
          onClick={() => setOpened(!opened)}
          className={classes.flag}
          style={{ left: flag.left }}
          data-testid="control-line"
          data-step={first}
          data-target={targets.join(" ")}
          aria-label={`${count === 1 ? "Change" : `${count} changes`} to ${targets.map(targetLabel).join(", ")}, applied at ${where}`}
          title={`${targets.map(targetLabel).join(", ")} · ${where}`}
        >
          {count > 1 && <span className={classes.count}>{count}</span>}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown className={classes.card}>
        {[...flag.marks].reverse().map(mark => (
          <FlagCard key={mark.id} run={run} mark={mark} onClose={() => setOpened(false)} />
        ))}
      </Popover.Dropdown>
    </Popover>
  );
}
