/** Scores samples with the definition as it stands in the form, before any run spends time on it. */
import { datasets as datasetsApi, rewards } from "@/api/client";
import { Button, Group, NumberInput, Paper, Select, Stack, Text, Textarea, Title } from "@mantine/core";
import { IconFlask, IconPlus } from "@tabler/icons-react";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Json, Row, Spec } from "@/api/model";
import { datasetsQuery } from "@/features/datasets/queries";
import { useCan } from "@/features/session/session";
import { ErrorState } from "@/ui/ErrorState";
import { fieldError, formError } from "@/lib/problems";
import { BenchResult } from "./BenchResult";

interface Sample {
  output_text: string;
  item: string;
  tokens: number | "";
}

const FIRST: Sample = {
  output_text: "<think>48 / 2</think>24",
  item: '{"prompt": "48/2=", "answer": "24"}',
  tokens: 12,
};

export function Bench({ definition }: { definition: Spec }) {
  const [samples, setSamples] = useState<Sample[]>([FIRST]);
  const editor = useCan("editor");
  const run = useMutation({
    mutationFn: () =>
      rewards.score({
        definition,
        samples: samples.map(({ output_text, item, tokens }) => ({
          output_text,
          item: JSON.parse(item) as Json,
          ...(tokens === "" ? {} : { completion_tokens: tokens }),
        })),
      }),
  });
  const set = (index: number, change: Partial<Sample>) =>
    setSamples(previous => previous.map((one, at) => (at === index ? { ...one, ...change } : one)));
  const broken = samples.some(sample => !isObjectText(sample.item));
  return (
    <Paper p="md" component="section" aria-label="Try it" data-testid="reward-bench">
      <Group justify="space-between" mb="xs">
        <Title order={2}>Try it</Title>
        <Button
          size="xs"
          leftSection={<IconFlask size={14} />}
          onClick={() => run.mutate()}
          loading={run.isPending}
          disabled={broken || !editor || samples.length === 0}
          data-testid="try-reward"
        >
          Score {samples.length === 1 ? "the sample" : `${samples.length} samples`}
        </Button>
      </Group>
      <Stack gap="sm">
        <FromDataset onRows={rows => setSamples(rows.map(fromRow))} />
        {formError(run.error) !== null && <ErrorState error={run.error} />}
        {samples.map((sample, index) => (
          <Paper key={index} p="sm" bg="var(--c-raised)">
            <Stack gap={6}>
              <Textarea
                label="Completion"
                autosize
                minRows={2}
                maxRows={8}
                styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: 12.5 } }}
                value={sample.output_text}
                onChange={event => set(index, { output_text: event.currentTarget.value })}
                error={fieldError(run.error, `/samples/${index}/output_text`)}
              />
              <Group gap="xs" align="flex-start" wrap="nowrap">
                <Textarea
                  flex={1}
                  label="Dataset row"
                  autosize
                  minRows={1}
                  maxRows={6}
                  styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: 12.5 } }}
                  value={sample.item}
                  onChange={event => set(index, { item: event.currentTarget.value })}
                  error={
                    isObjectText(sample.item)
                      ? fieldError(run.error, `/samples/${index}/item`)
                      : "This is not a JSON object."
                  }
                />
                <NumberInput
                  w={90}
                  label="Tokens"
                  min={0}
                  value={sample.tokens}
                  onChange={value => set(index, { tokens: typeof value === "number" ? value : "" })}
                  error={fieldError(run.error, `/samples/${index}/completion_tokens`)}
                />
              </Group>
              <BenchResult result={run.data?.results[index]} pending={run.isPending} />
              {samples.length > 1 && (
                <Button
                  size="compact-xs"
                  variant="subtle"
                  color="gray"
                  style={{ alignSelf: "flex-end" }}
                  onClick={() => {
                    run.reset();
                    setSamples(samples.filter((_, at) => at !== index));
                  }}
                >
                  Remove
                </Button>
              )}
            </Stack>
          </Paper>
        ))}
        <Group>
          <Button
            size="compact-xs"
            variant="subtle"
            leftSection={<IconPlus size={13} />}
            onClick={() => setSamples([...samples, samples.at(-1) ?? FIRST])}
          >
            Add a sample
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
}

/** Rows of a dataset as samples whose completion is still to be written. */
function FromDataset({ onRows }: { onRows: (rows: Row[]) => void }) {
  const datasets = useQuery(datasetsQuery);
  const load = useMutation({
    mutationFn: async (id: string) => {
      const dataset = datasets.data?.data.find(one => one.id === id);
      const number = dataset?.latest_version?.number ?? 1;
      return datasetsApi.rows(id, number, { limit: 5 });
    },
    onSuccess: page => onRows(page.data),
  });
  const choices = datasets.data?.data ?? [];
  if (choices.length === 0) return null;
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
        onChange={id => id && load.mutate(id)}
        error={load.isError ? "The rows could not be loaded." : undefined}
      />
    </Group>
  );
}

function fromRow(row: Row): Sample {
  return { output_text: `<think></think>${row.answer ?? ""}`, item: JSON.stringify(row.row), tokens: 16 };
}

function isObjectText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
