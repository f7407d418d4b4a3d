/** Scores samples with the definition as it is in the form, at once, where no jail and no judge is needed. */
import { Button, Group, Paper, Select, Stack, Text, Title } from "@mantine/core";
import { IconFlask } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import * as api from "@/api/client";
import { errorText } from "@/api/http";
import type { Dataset, DatasetRow, Spec } from "@/api/model";
import { restError } from "@/api/problems";
import { datasetsQuery } from "@/entities/datasets/queries";
import { PastedSamples } from "@/features/rewards/samples/PastedSamples";
import { fromRow, isObjectText, type Pasted, toBody } from "@/features/rewards/samples/samples";
import { useCan } from "@/features/session/session";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";
import { TryResultLine } from "./TryResultLine";

const AT_FIELDS = /^\/samples\/\d+\/(output_text|item|completion_tokens)$/;

interface Props {
  definition: Spec;
  samples: Pasted[];
  onSamples: (next: Pasted[]) => void;
  /** Leads to the bench, which can do more. */
  onBench?: () => void;
}

export function QuickTry({ definition, samples, onSamples, onBench }: Props) {
  const editor = useCan("editor");
  const run = useSubmit({
    mutationFn: (asked: { definition: Spec; samples: Pasted[] }) =>
      api.scoreSamples({ definition: asked.definition, samples: asked.samples.map(toBody) }),
  });
  // A score is of the definition and the sample as they were: it goes when either is changed.
  const scored = run.variables?.definition === definition ? run.variables.samples : [];
  const resultOf = (sample: Pasted) => {
    const index = scored.indexOf(sample);
    return index === -1 ? undefined : run.data?.results[index];
  };
  return (
    <Paper p="md" component="section" aria-label="Try it" data-testid="reward-bench">
      <Group justify="space-between" mb="xs">
        <Title order={2}>Try it</Title>
        <Group gap={6}>
          {onBench && (
            <Button size="xs" variant="default" onClick={onBench} data-testid="to-bench">
              Open the bench
            </Button>
          )}
          <Button
            size="xs"
            leftSection={<IconFlask size={14} />}
            onClick={() => run.mutate({ definition, samples })}
            loading={run.isPending}
            disabled={!samples.every(sample => isObjectText(sample.item)) || !editor || samples.length === 0}
            data-testid="try-reward"
          >
            Score {samples.length === 1 ? "the sample" : `${samples.length} samples`}
          </Button>
        </Group>
      </Group>
      <Stack gap="sm">
        <FromDataset onRows={rows => onSamples(rows.map(fromRow))} />
        {restError(run.error, AT_FIELDS) !== null && <ErrorState error={run.error} />}
        <PastedSamples
          samples={samples}
          onChange={onSamples}
          error={run.error}
          below={sample => <TryResultLine result={resultOf(sample)} pending={run.isPending} />}
        />
      </Stack>
    </Paper>
  );
}

function FromDataset({ onRows }: { onRows: (rows: DatasetRow[]) => void }) {
  const datasets = useQuery(datasetsQuery);
  const load = useSubmit({
    mutationFn: ({ id, latest_version }: Dataset) => api.listDatasetRows(id, latest_version.number, { limit: 5 }),
    onSuccess: page => onRows(page.data),
  });
  const choices = datasets.data?.data ?? [];
  if (choices.length === 0 && !datasets.isError) return null;
  const fault = load.error ?? datasets.error;
  return (
    <Group gap="xs">
      <Text size="xs" c="dimmed">
        Fill with rows of
      </Text>
      <Select
        size="xs"
        aria-label="Fill with rows of a dataset"
        placeholder="a dataset"
        data={choices.map(one => ({ value: one.id, label: one.name }))}
        value={null}
        onChange={id => {
          const found = choices.find(one => one.id === id);
          if (found) load.mutate(found);
        }}
        error={fault ? errorText(fault) : undefined}
      />
    </Group>
  );
}
