/** Makes a dataset of stored rollouts: the best answers of each prompt, or pairs of a better and a worse one. */
import { Alert, Button, Group, Modal, NumberInput, SegmentedControl, Stack, Text, TextInput } from "@mantine/core";
import { IconTablePlus } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import * as api from "@/api/client";
import { errorText } from "@/api/http";
import type { Run } from "@/api/model";
import { useSubmit } from "@/lib/useSubmit";
import type { GroupFilter } from "./queries";
import { datasetBody, type DatasetFields, type DatasetKind, firstFields } from "./rollout-dataset";

interface Props {
  run: Run;
  filter: GroupFilter;
  /** Whether any rollout is stored. */
  some: boolean;
}

export function DatasetButton({ run, filter, some }: Props) {
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconTablePlus size={14} />}
        disabled={!some}
        data-testid="rollout-dataset"
        onClick={() => setOpened(true)}
      >
        Dataset…
      </Button>
      <Modal opened={opened} onClose={() => setOpened(false)} title="Dataset from rollouts">
        <DatasetForm run={run} filter={filter} />
      </Modal>
    </>
  );
}

function DatasetForm({ run, filter }: Omit<Props, "some">) {
  const [fields, setFields] = useState(firstFields(run.name));
  const navigate = useNavigate();
  const ask = (dryRun: boolean) => api.createRolloutDataset(run.id, datasetBody(fields, filter, dryRun));
  const preview = useMutation({ mutationFn: () => ask(true) });
  const make = useSubmit({
    mutationFn: () => ask(false),
    onSuccess: async ({ results }) => {
      const id = results[0]?.dataset_id;
      if (id) await navigate({ to: "/datasets/$datasetId", params: { datasetId: id } });
    },
  });
  const change = (part: Partial<DatasetFields>) => {
    setFields({ ...fields, ...part });
    preview.reset();
    make.reset();
  };
  const problem = preview.error ?? make.error;
  const rows = preview.data?.results[0]?.rows;
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label="What a row holds"
        data={[
          { value: "completions", label: "Best answers" },
          { value: "pairs", label: "Better and worse" },
        ]}
        value={fields.kind}
        onChange={kind => change({ kind: kind as DatasetKind })}
      />
      <Text size="sm" c="dimmed">
        {fields.kind === "completions"
          ? "Each row has an answer in the column completion, for supervised training."
          : "Each row has the best answer of a group as chosen and its worst as rejected, for preference training."}
      </Text>
      <NumberInput
        label="Most rows per prompt"
        min={1}
        max={64}
        allowDecimal={false}
        value={fields.perPrompt}
        onChange={value => change({ perPrompt: Number(value) || 1 })}
      />
      {fields.kind === "completions" ? (
        <NumberInput
          label="Minimum reward"
          description="Empty: answers that succeed by the reward's threshold."
          value={fields.minReward ?? ""}
          onChange={value => change({ minReward: value === "" ? null : Number(value) })}
        />
      ) : (
        <NumberInput
          label="Minimum difference of the rewards"
          description="Pairs whose rewards differ by this or less are left out."
          min={0}
          value={fields.minGap}
          onChange={value => change({ minGap: Number(value) || 0 })}
        />
      )}
      <TextInput
        label="Dataset name"
        value={fields.name}
        maxLength={110}
        onChange={event => change({ name: event.currentTarget.value })}
      />
      {problem && (
        <Alert color="red" role="alert">
          {errorText(problem)}
        </Alert>
      )}
      {rows !== undefined && (
        <Text size="sm" role="status">
          {rows === 1 ? "1 row" : `${rows.toLocaleString("en")} rows`}, with the columns of the prompts’ own rows.
        </Text>
      )}
      <Group justify="flex-end">
        <Button
          variant="default"
          disabled={!fields.name.trim()}
          loading={preview.isPending}
          onClick={() => preview.mutate()}
        >
          Preview
        </Button>
        <Button disabled={!fields.name.trim()} loading={make.isPending} onClick={() => make.mutate()}>
          Create
        </Button>
      </Group>
    </Stack>
  );
}
