/** What a chart block draws, and how. */
import { Input, MultiSelect, NumberInput, Select, Slider, Switch, TextInput } from "@mantine/core";
import { useQueries } from "@tanstack/react-query";
import type { ReportBlock, XAxis } from "@/api/model";
import { axisChoices } from "@/features/charts/axes";
import { type BlockOf, MOST_METRICS } from "@/entities/reports/blocks";
import { metricEntriesQuery, runQuery } from "@/entities/runs/queries";
import { allMetrics } from "@/features/runs/overlay/overlay";
import { Freeze } from "./Freeze";
import { RunsPicker } from "./RunsPicker";
import classes from "./reports.module.css";

interface Props {
  block: BlockOf<"chart">;
  onChange: (next: ReportBlock) => void;
}

const LOGS = [
  { value: "own", label: "Default of the chart" },
  { value: "linear", label: "Linear" },
  { value: "log", label: "Logarithmic" },
];

export function ChartSettings({ block, onChange }: Props) {
  const change = (part: Partial<BlockOf<"chart">>) => onChange({ ...block, ...part });
  const { runs, metrics } = useChosen(block);
  const known = new Map(metrics.map(metric => [metric.name, metric.title]));
  for (const name of block.metrics) if (!known.has(name)) known.set(name, name);
  const x = block.x ?? "step";
  const { log = null } = block;
  return (
    <>
      <div className={classes.wide}>
        <RunsPicker runs={block.runs} onChange={next => change({ runs: next })} />
      </div>
      <MultiSelect
        className={classes.wide}
        label="Metrics"
        size="xs"
        data={[...known].map(([value, title]) => ({ value, label: title === value ? value : `${title} · ${value}` }))}
        value={block.metrics}
        onChange={next => change({ metrics: next })}
        maxValues={MOST_METRICS}
        placeholder={block.metrics.length === 0 ? "Choose metrics" : undefined}
        nothingFoundMessage="No reported metric of this name"
        searchable
        limit={100}
      />
      <TextInput
        label="Title"
        size="xs"
        placeholder="Name of the metric"
        value={block.title ?? ""}
        maxLength={200}
        onChange={event => change({ title: event.currentTarget.value })}
      />
      <Select
        label="X axis"
        size="xs"
        data={axisChoices(runs, x).map(({ value, label, disabled }) => ({ value, label, disabled }))}
        value={x}
        allowDeselect={false}
        onChange={next => change({ x: next as XAxis, x_from: null, x_to: null })}
      />
      <Select
        label="Values"
        size="xs"
        data={LOGS}
        value={log === null ? "own" : log ? "log" : "linear"}
        allowDeselect={false}
        onChange={next => change({ log: next === "own" ? null : next === "log" })}
      />
      <Input.Wrapper label={`Smoothing ${block.smooth ?? 0}`} size="xs" labelElement="div">
        <Slider
          mt={8}
          size="xs"
          min={0}
          max={0.98}
          step={0.02}
          label={null}
          value={block.smooth ?? 0}
          onChange={next => change({ smooth: Number(next.toFixed(2)) })}
          thumbLabel="Smoothing"
        />
      </Input.Wrapper>
      <Ends label="X range" from={block.x_from} to={block.x_to} onChange={(x_from, x_to) => change({ x_from, x_to })} />
      <Ends
        label="Value range"
        from={block.y_from}
        to={block.y_to}
        onChange={(y_from, y_to) => change({ y_from, y_to })}
      />
      <Freeze asOf={block.as_of} onChange={as_of => change({ as_of })} />
      <div>
        <Switch
          size="xs"
          mt={4}
          label="All metrics in one chart"
          checked={block.together ?? false}
          onChange={event => change({ together: event.currentTarget.checked })}
        />
        <Switch
          size="xs"
          mt={8}
          label="Align forks to parents"
          checked={block.lineage ?? true}
          onChange={event => change({ lineage: event.currentTarget.checked })}
        />
      </div>
    </>
  );
}

interface EndsProps {
  label: string;
  from: number | null | undefined;
  to: number | null | undefined;
  onChange: (from: number | null, to: number | null) => void;
}

/** Two ends of an axis; an empty one is as the values ask. */
function Ends({ label, from = null, to = null, onChange }: EndsProps) {
  const read = (text: string | number) => (typeof text === "number" && Number.isFinite(text) ? text : null);
  return (
    <Input.Wrapper label={label} size="xs" labelElement="div">
      <div className={classes.pair}>
        <NumberInput
          size="xs"
          aria-label={`${label}: lower end`}
          placeholder="all"
          value={from ?? ""}
          onChange={next => onChange(read(next), to)}
          hideControls
        />
        <NumberInput
          size="xs"
          aria-label={`${label}: upper end`}
          placeholder="all"
          value={to ?? ""}
          onChange={next => onChange(from, read(next))}
          error={from !== null && to !== null && from >= to}
          hideControls
        />
      </div>
    </Input.Wrapper>
  );
}

/** What is known of the chosen runs; a run that is gone offers nothing. */
function useChosen({ runs }: BlockOf<"chart">) {
  const found = useQueries({
    queries: runs.map(run => runQuery(run.id)),
    combine: all => all.flatMap(one => one.data ?? []),
  });
  const metrics = useQueries({
    queries: runs.map(run => metricEntriesQuery(run.id)),
    combine: all => allMetrics(all.map(one => one.data)),
  });
  return { runs: found, metrics };
}
