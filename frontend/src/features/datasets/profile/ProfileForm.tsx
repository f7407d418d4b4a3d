/** Starts a profile. Its cost is shown first. */
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import * as api from "@/api/client";
import type { Dataset, DatasetVersion } from "@/api/model";
import { fieldError, restError } from "@/api/problems";
import { useRequestKey } from "@/lib/useRequestKey";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";
import { PolicySelect } from "./PolicySelect";
import { SamplingFields } from "./SamplingFields";
import { profileQuery, profilesQuery } from "./queries";
import { isComplete, NO_SAMPLING, profileCostText, SAMPLING_AT, specOf } from "./sampling";

const AT = { policy: ["/spec/policy/base"], ...SAMPLING_AT };

interface Props {
  dataset: Dataset;
  version: DatasetVersion;
  onDone: (id: string) => void;
}

export function ProfileForm({ dataset, version, onDone }: Props) {
  const client = useQueryClient();
  const keyFor = useRequestKey();
  const [policy, setPolicy] = useState<string | null>(null);
  const [sampling, setSampling] = useState(NO_SAMPLING);
  const body = {
    spec: specOf(dataset, version, policy, sampling),
    plan: { budget: Number(sampling.each) * version.rows },
  };
  const cost = useMutation({ mutationFn: () => api.costProfile(body) });
  const create = useSubmit({
    mutationFn: () => api.createProfile(body, { "Idempotency-Key": keyFor(body) }),
    onSuccess: async made => {
      client.setQueryData(profileQuery(made.id).queryKey, made);
      await client.invalidateQueries({ queryKey: profilesQuery(dataset.id, version.number).queryKey });
      onDone(made.id);
    },
  });
  const forget = () => {
    cost.reset();
    create.reset();
  };
  const refused = cost.error ?? create.error;
  const error = restError(refused, Object.values(AT).flat());
  const fault = (field: keyof typeof AT) =>
    AT[field].map(pointer => fieldError(refused, pointer)).find(found => found !== undefined);
  return (
    <Stack gap="sm">
      <PolicySelect
        label="Policy"
        description="To use a checkpoint of a run, register it as a policy first."
        value={policy}
        onChange={next => {
          setPolicy(next);
          forget();
        }}
        error={fault("policy")}
      />
      <SamplingFields
        value={sampling}
        onChange={next => {
          setSampling(next);
          forget();
        }}
        fault={fault}
      />
      {error !== null && <ErrorState error={error} />}
      {cost.data && (
        <Alert color="petrol" role="status" data-testid="profile-cost">
          <Text size="sm">{profileCostText(cost.data)}</Text>
        </Alert>
      )}
      <Group justify="flex-end">
        <Button
          variant="default"
          disabled={policy === null || !isComplete(sampling)}
          loading={cost.isPending}
          onClick={() => cost.mutate()}
        >
          Estimate cost
        </Button>
        <Button
          disabled={!cost.data}
          loading={create.isPending}
          onClick={() => create.mutate()}
          data-testid="profile-start"
        >
          Start
        </Button>
      </Group>
    </Stack>
  );
}
