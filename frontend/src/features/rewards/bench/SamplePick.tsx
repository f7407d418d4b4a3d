/** Where the samples come from: pasted, rows of a dataset, or stored rollouts of a run. */
import { Group, SegmentedControl, Stack, Text, Title } from "@mantine/core";
import { fieldError } from "@/api/problems";
import { MAX_MATCHED, MAX_PICKED, MAX_SAMPLES, type Pasted } from "@/features/rewards/samples/samples";
import { sampleCount, type Samples } from "./bench";
import classes from "./bench.module.css";
import { DatasetRows } from "./DatasetRows";
import { Paste } from "./Paste";
import { RunRollouts } from "./RunRollouts";

interface Props {
  kind: Samples["kind"];
  onKind: (next: Samples["kind"]) => void;
  samples: Pasted[];
  onSamples: (next: Pasted[]) => void;
  dataset: Extract<Samples, { kind: "dataset" }>;
  onDataset: (next: Extract<Samples, { kind: "dataset" }>) => void;
  run: Extract<Samples, { kind: "run" }>;
  onRun: (next: Extract<Samples, { kind: "run" }>) => void;
  error: unknown;
}

const KINDS = [
  { value: "pasted", label: "Pasted" },
  { value: "dataset", label: "Dataset" },
  { value: "run", label: "Run" },
];
const FAULTS = [
  "/samples",
  "/samples/dataset",
  "/samples/rows",
  "/samples/run",
  "/samples/rollouts",
  "/samples/step",
  "/samples/matching",
];

export function SamplePick(props: Props) {
  const { kind, onKind, samples, onSamples, dataset, onDataset, run, onRun, error } = props;
  const chosen: Samples = kind === "pasted" ? { kind, samples } : kind === "dataset" ? dataset : run;
  const count = sampleCount(chosen);
  const fault = FAULTS.map(pointer => fieldError(error, pointer)).find(Boolean);
  return (
    <Stack gap="sm" miw={0} data-testid="bench-samples">
      <Group justify="space-between" gap="xs">
        <Title order={2} className={classes.title}>
          Samples
        </Title>
        <Group gap="sm">
          <Text size="xs" c="dimmed" className="num" role="status">
            {count === null
              ? `at most ${MAX_MATCHED}`
              : `${count} of at most ${chosen.kind === "run" ? MAX_PICKED : MAX_SAMPLES}`}
          </Text>
          <SegmentedControl
            size="xs"
            aria-label="Source of the samples"
            data={KINDS}
            value={kind}
            onChange={next => onKind(next as Samples["kind"])}
          />
        </Group>
      </Group>
      {fault && (
        <Text size="xs" c="var(--c-bad)" role="alert">
          {fault}
        </Text>
      )}
      {kind === "pasted" && <Paste samples={samples} onSamples={onSamples} error={error} />}
      {kind === "dataset" && <DatasetRows chosen={dataset} onChange={onDataset} />}
      {kind === "run" && <RunRollouts chosen={run} onChange={onRun} />}
    </Stack>
  );
}
