/** Asks for a profile. What it would cost is shown before it begins. */
import { Alert, Button, Group, NumberInput, Select, Stack, Switch, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { profiles } from "@/api/client";
import type { Dataset, DatasetVersion, ProfileCost } from "@/api/model";
import { fieldError, restError } from "@/api/problems";
import { policiesQuery } from "@/features/policies/data/queries";
import { rewardsQuery } from "@/features/rewards/data/queries";
import { formatCount, formatDuration } from "@/lib/format";
import { useRequestKey } from "@/lib/useRequestKey";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";
import { profileQuery, profilesQuery } from "./queries";

/** Where the faults of a refused profile stand, by fields. */
const AT = {
  policy: ["/spec/policy/base"],
  reward: ["/spec/reward/definition"],
  each: ["/plan/budget"],
  prompt: ["/spec/rollout/engine/max_model_len"],
  tokens: ["/spec/rollout/max_tokens"],
};

interface Props {
  dataset: Dataset;
  version: DatasetVersion;
  onDone: (id: string) => void;
}

const AMOUNT = { min: 1, allowDecimal: false, allowNegative: false, clampBehavior: "blur" } as const;

export function ProfileForm({ dataset, version, onDone }: Props) {
  const client = useQueryClient();
  const keyFor = useRequestKey();
  const policies = useQuery(policiesQuery);
  const rewards = useQuery(rewardsQuery);
  const [fields, setFields] = useState({
    policy: null as string | null,
    reward: null as string | null,
    each: 12 as number | string,
    prompt: 1024 as number | string,
    tokens: 512 as number | string,
    chat: true,
  });
  const tokens = Number(fields.tokens);
  const body = {
    spec: {
      policy: { base: fields.policy ?? "" },
      reward: { definition: fields.reward ?? "" },
      data: {
        sources: [{ name: "rows", dataset: `${dataset.slug}@${version.number}`, format: { chat: fields.chat } }],
      },
      rollout: { max_tokens: tokens, engine: { max_model_len: Number(fields.prompt) + tokens } },
    },
    plan: { budget: Number(fields.each) * version.rows },
  };
  const cost = useMutation({ mutationFn: () => profiles.cost(body) });
  const create = useSubmit({
    mutationFn: () => profiles.create(body, keyFor(body)),
    onSuccess: async made => {
      client.setQueryData(profileQuery(made.id).queryKey, made);
      await client.invalidateQueries({ queryKey: profilesQuery(dataset.id, version.number).queryKey });
      onDone(made.id);
    },
  });
  const change = (part: Partial<typeof fields>) => {
    setFields({ ...fields, ...part });
    cost.reset();
    create.reset();
  };
  const complete =
    fields.policy !== null &&
    fields.reward !== null &&
    fields.each !== "" &&
    fields.tokens !== "" &&
    fields.prompt !== "";
  const refused = cost.error ?? create.error;
  const error = restError(refused, Object.values(AT).flat()) ?? policies.error ?? rewards.error;
  const fault = (field: keyof typeof AT) =>
    AT[field].map(pointer => fieldError(refused, pointer)).find(found => found !== undefined);
  return (
    <Stack gap="sm">
      <Select
        label="Policy"
        description="A checkpoint of a run can be registered as a policy first."
        data={(policies.data?.data ?? []).map(one => ({ value: one.slug, label: one.name }))}
        value={fields.policy}
        onChange={policy => change({ policy })}
        error={fault("policy")}
        searchable
        nothingFoundMessage="No policy"
      />
      <Select
        label="Reward"
        description="An answer counts as right from the threshold of its definition on."
        data={(rewards.data?.data ?? []).map(one => ({
          value: one.latest_version.ref,
          label: one.latest_version.ref,
        }))}
        value={fields.reward}
        onChange={reward => change({ reward })}
        error={fault("reward")}
        searchable
        nothingFoundMessage="No reward"
      />
      <Group grow align="flex-start">
        <NumberInput
          {...AMOUNT}
          label="Samples of a row"
          description="On average; every row gets 4."
          min={4}
          max={64}
          value={fields.each}
          onChange={each => change({ each })}
          error={fault("each")}
        />
        <NumberInput
          {...AMOUNT}
          label="Longest prompt"
          description="Tokens. A row with a longer one ends it."
          max={131072}
          value={fields.prompt}
          onChange={prompt => change({ prompt })}
          error={fault("prompt")}
        />
        <NumberInput
          {...AMOUNT}
          label="Longest answer"
          description="Tokens."
          max={32768}
          value={fields.tokens}
          onChange={next => change({ tokens: next })}
          error={fault("tokens")}
        />
      </Group>
      <Switch
        label="Put prompts through the chat template"
        checked={fields.chat}
        onChange={event => change({ chat: event.currentTarget.checked })}
      />
      {error && <ErrorState error={error} />}
      {cost.data && <Cost cost={cost.data} />}
      <Group justify="flex-end">
        <Button variant="default" disabled={!complete} loading={cost.isPending} onClick={() => cost.mutate()}>
          Show the cost
        </Button>
        <Button
          disabled={!cost.data}
          loading={create.isPending}
          onClick={() => create.mutate()}
          data-testid="profile-start"
        >
          Begin
        </Button>
      </Group>
    </Stack>
  );
}

function Cost({ cost }: { cost: ProfileCost }) {
  const time =
    cost.max_seconds === null
      ? "How long it takes is not known: no profile or rehearsal with this policy is done."
      : `${formatDuration(cost.min_seconds)} to ${formatDuration(cost.max_seconds)} on the cluster, as the newest ${cost.measured_by ?? ""} with this policy went.`;
  return (
    <Alert color="petrol" role="status" data-testid="profile-cost">
      <Text size="sm">
        {formatCount(cost.min_samples)} to {formatCount(cost.max_samples)} samples of {formatCount(cost.rows)} rows,{" "}
        {formatCount(cost.min_tokens)} to {formatCount(cost.max_tokens)} tokens. {time}
      </Text>
    </Alert>
  );
}
