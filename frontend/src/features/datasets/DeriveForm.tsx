/** Creates versions by a filter, a split or whole-number answers, with a preview. */
import {
  Alert,
  Button,
  Checkbox,
  Group,
  NumberInput,
  SegmentedControl,
  Stack,
  Text,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { errorText } from "@/api/http";
import type { Dataset, DatasetVersion, Derived } from "@/api/model";
import { useDerive } from "@/entities/datasets/useDerive";
import { useSubmit } from "@/lib/useSubmit";
import { countsText } from "./VersionLineage";
import { deriveBody, EMPTY, isComplete, type DeriveFields, type DeriveKind } from "./derive-operation";

const LIMIT = { min: 0, allowDecimal: false, allowNegative: false };

interface Props {
  dataset: Dataset;
  version: DatasetVersion;
  onDone: () => void;
}

export function DeriveForm({ dataset, version, onDone }: Props) {
  const [fields, setFields] = useState(EMPTY);
  const { preview, make } = useDerivation(dataset, version, onDone);
  const change = (part: Partial<DeriveFields>) => {
    setFields({ ...fields, ...part });
    preview.reset();
  };
  const problem = preview.error ?? make.error;
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label="Operation"
        data={[
          { value: "filter", label: "Filter" },
          { value: "split", label: "Split" },
          { value: "integers", label: "Whole-number answers" },
        ]}
        value={fields.kind}
        onChange={kind => change({ kind: kind as DeriveKind })}
      />
      {fields.kind === "filter" && <Conditions fields={fields} change={change} />}
      {fields.kind === "integers" && <Integers fields={fields} change={change} />}
      {fields.kind === "split" && (
        <NumberInput
          label="Test split, percent of rows"
          description="Decided by a hash of the row id, so rows keep their split in later versions."
          min={1}
          max={99}
          value={fields.testPercent}
          onChange={value => change({ testPercent: Number(value) })}
        />
      )}
      <TextInput
        label={fields.kind === "split" ? "Base name of the splits" : "New dataset name"}
        description={
          fields.kind === "split"
            ? `Creates ${fields.name.trim() || dataset.name} train and ${fields.name.trim() || dataset.name} test.`
            : "Without a name, the rows become the next version of this dataset."
        }
        value={fields.name}
        maxLength={110}
        onChange={event => change({ name: event.currentTarget.value })}
      />
      {problem && (
        <Alert color="red" role="alert">
          {errorText(problem)}
        </Alert>
      )}
      {preview.data && <Preview derived={preview.data} />}
      <Group justify="flex-end">
        <Button
          variant="default"
          disabled={!isComplete(fields)}
          loading={preview.isPending}
          onClick={() => preview.mutate(fields)}
        >
          Preview
        </Button>
        <Button disabled={!preview.data} loading={make.isPending} onClick={() => make.mutate(fields)}>
          Create
        </Button>
      </Group>
    </Stack>
  );
}

function useDerivation(dataset: Dataset, version: DatasetVersion, onDone: () => void) {
  const derive = useDerive(dataset, version);
  const navigate = useNavigate();
  const ask = (fields: DeriveFields, dryRun: boolean) => derive(deriveBody(fields, dryRun));
  const preview = useMutation({ mutationFn: (fields: DeriveFields) => ask(fields, true) });
  const make = useSubmit({
    mutationFn: (fields: DeriveFields) => ask(fields, false),
    onSuccess: async ({ results }) => {
      onDone();
      const first = results[0];
      if (first?.dataset_id)
        await navigate({
          to: "/datasets/$datasetId",
          params: { datasetId: first.dataset_id },
          search: { version: first.number },
        });
    },
  });
  return { preview, make };
}

function Conditions({ fields, change }: { fields: DeriveFields; change: (part: Partial<DeriveFields>) => void }) {
  const bound = (value: string | number) => (value === "" ? null : Number(value));
  return (
    <>
      <TextInput
        label="Words"
        description="All must occur in the prompt or chat. Put phrases in double quotes."
        value={fields.text}
        maxLength={500}
        onChange={event => change({ text: event.currentTarget.value })}
      />
      <TextInput
        label="Columns"
        description="For example level=3, source=gsm8k: exact matches."
        value={fields.tags}
        onChange={event => change({ tags: event.currentTarget.value })}
      />
      <Group grow>
        <NumberInput
          {...LIMIT}
          label="Minimum length"
          description="Characters of the prompt or chat."
          value={fields.minLength ?? ""}
          onChange={value => change({ minLength: bound(value) })}
        />
        <NumberInput
          {...LIMIT}
          label="Maximum length"
          description="Characters of the prompt or chat."
          value={fields.maxLength ?? ""}
          onChange={value => change({ maxLength: bound(value) })}
        />
      </Group>
    </>
  );
}

function Integers({ fields, change }: { fields: DeriveFields; change: (part: Partial<DeriveFields>) => void }) {
  return (
    <>
      <Text size="sm" c="dimmed">
        Keeps rows whose answer is a whole number, written plainly so that a rule can check it. Drops decimals,
        percentages, formulas and words. The original version does not change.
      </Text>
      <Checkbox
        label="If the answer is a fraction m/n, ask for m + n"
        checked={fields.askForSum}
        onChange={event => change({ askForSum: event.currentTarget.checked })}
      />
      {fields.askForSum && (
        <Textarea
          label="Added below the prompt of these rows"
          autosize
          minRows={2}
          maxLength={1000}
          value={fields.sentence}
          onChange={event => change({ sentence: event.currentTarget.value })}
        />
      )}
    </>
  );
}

function Preview({ derived }: { derived: Derived }) {
  return (
    <Alert color="petrol" role="status" data-testid="derive-preview">
      <Text size="sm">Creates {countsText(derived.counts)}</Text>
      {derived.results.map(({ ref, rows }) => (
        <Text key={ref} size="sm" className="mono">
          {ref}: {rows.toLocaleString("en-GB")} rows
        </Text>
      ))}
    </Alert>
  );
}
