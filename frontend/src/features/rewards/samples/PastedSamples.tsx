/** Samples that people write or paste: a completion, and the dataset row that it answers. */
import { Button, Group, NumberInput, Paper, Stack, Textarea } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { fieldError } from "@/api/problems";
import { MONO } from "@/ui/styles";
import { FIRST, isObjectText, MAX_SAMPLES, type Pasted } from "./samples";

interface Props {
  samples: Pasted[];
  onChange: (next: Pasted[]) => void;
  /** Of the last try, whose faults are shown at the fields under `pointer`. */
  error?: unknown;
  pointer?: string;
  /** What is under a sample, such as its score. */
  below?: (sample: Pasted) => ReactNode;
  maxRows?: number;
  /** Next to the button that adds a sample. */
  tools?: ReactNode;
}

export function PastedSamples({ samples, onChange, error, pointer = "/samples", below, maxRows = 8, tools }: Props) {
  const set = (index: number, change: Partial<Pasted>) =>
    onChange(samples.map((one, at) => (at === index ? { ...one, ...change } : one)));
  return (
    <Stack gap="sm">
      {samples.map((sample, index) => (
        <Paper key={index} p="sm" bg="var(--c-raised)" data-testid="pasted-sample">
          <Stack gap={6}>
            <Textarea
              label="Completion"
              autosize
              minRows={2}
              maxRows={maxRows}
              styles={MONO}
              value={sample.output_text}
              onChange={event => set(index, { output_text: event.currentTarget.value })}
              error={fieldError(error, `${pointer}/${index}/output_text`)}
            />
            <Group gap="xs" align="flex-start" wrap="nowrap">
              <Textarea
                flex={1}
                label="Dataset row"
                autosize
                minRows={1}
                maxRows={6}
                styles={MONO}
                value={sample.item}
                onChange={event => set(index, { item: event.currentTarget.value })}
                error={
                  isObjectText(sample.item)
                    ? fieldError(error, `${pointer}/${index}/item`)
                    : "This is not a JSON object."
                }
              />
              <NumberInput
                w={90}
                label="Tokens"
                min={0}
                value={sample.tokens}
                onChange={value => set(index, { tokens: typeof value === "number" ? value : "" })}
                error={fieldError(error, `${pointer}/${index}/completion_tokens`)}
              />
            </Group>
            <Group justify="space-between" gap="xs">
              <div>{below?.(sample)}</div>
              {samples.length > 1 && (
                <Button
                  size="compact-xs"
                  variant="subtle"
                  color="gray"
                  aria-label={`Remove sample ${index + 1}`}
                  onClick={() => onChange(samples.filter((_, at) => at !== index))}
                >
                  Remove
                </Button>
              )}
            </Group>
          </Stack>
        </Paper>
      ))}
      <Group gap="xs">
        <Button
          size="compact-xs"
          variant="subtle"
          leftSection={<IconPlus size={13} />}
          disabled={samples.length >= MAX_SAMPLES}
          onClick={() => onChange([...samples, { ...(samples.at(-1) ?? FIRST) }])}
        >
          Add a sample
        </Button>
        {tools}
      </Group>
    </Stack>
  );
}
