/** Serves a policy to programs of the team: its address, its key at the one moment it can be seen, and samples. */
import { Alert, Badge, Button, Group, Loader, Paper, SegmentedControl, Stack, Text, Title } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import * as api from "@/api/client";
import type { NewServing, Serving } from "@/api/model";
import { onCluster } from "@/entities/clusters/words";
import { servingsQuery } from "@/entities/policies/queries";
import { useCan } from "@/features/session/session";
import { formatAgo } from "@/lib/format";
import { useRequestKey } from "@/lib/useRequestKey";
import { useSubmit } from "@/lib/useSubmit";
import { CopyIcon, CopyText } from "@/ui/CopyText";
import { ErrorState } from "@/ui/ErrorState";
import { Loaded } from "@/ui/Loaded";
import { Placeholder } from "@/ui/Placeholder";
import { Pre } from "@/ui/Pre";
import { Secret } from "@/ui/Secret";
import { isOpen, KEY, samples, stageOf } from "./serving";

interface Props {
  policyId: string;
  /** Name of the policy in requests. */
  slug: string;
  /** Why it cannot be served, and what to do; otherwise empty. */
  refusal: string;
}

export function ServingPanel({ policyId, slug, refusal }: Props) {
  const query = useQuery(servingsQuery);
  const [made, setMade] = useState<NewServing | null>(null);
  return (
    <Paper p="md" component="section" aria-label="Serving" data-testid="serving">
      <Title order={2} mb={4}>
        Serving
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        Programs use it as they use OpenAI’s chat completions. It stops after an hour without a request.
      </Text>
      <Loaded query={query} skeleton={<Placeholder height={60} />}>
        {({ data }) => {
          const last = data.find(serving => serving.policy_id === policyId);
          const open = last && isOpen(last) ? last : undefined;
          return (
            <Stack gap="sm">
              {made !== null && made.id === open?.id && (
                <Secret
                  title="Client key"
                  value={made.key}
                  note={`The samples read it from ${KEY}.`}
                  onClose={() => setMade(null)}
                />
              )}
              {open ? <Served serving={open} /> : <Start slug={slug} refusal={refusal} last={last} onMade={setMade} />}
            </Stack>
          );
        }}
      </Loaded>
    </Paper>
  );
}

interface StartProps {
  slug: string;
  refusal: string;
  last: Serving | undefined;
  onMade: (serving: NewServing) => void;
}

function Start({ slug, refusal, last, onMade }: StartProps) {
  const client = useQueryClient();
  const editor = useCan("editor");
  const keyFor = useRequestKey();
  const start = useSubmit({
    mutationFn: () =>
      // After one has ended, the same request asks for another.
      api.servePolicy({ policy: slug }, { "Idempotency-Key": keyFor({ slug, after: last?.id }) }),
    onSuccess: made => {
      onMade(made);
      void client.invalidateQueries({ queryKey: servingsQuery.queryKey });
    },
  });
  const why = refusal || (editor ? "" : "Serving needs the role of editor.");
  return (
    <>
      {last?.state === "failed" && (
        <Alert color="red" icon={<IconAlertTriangle size={16} />} title="It could not be served">
          {last.error}
        </Alert>
      )}
      <Group gap="sm">
        <Button onClick={() => start.mutate()} loading={start.isPending} disabled={why !== ""} data-testid="serve">
          Serve
        </Button>
        {why !== "" && (
          <Text size="sm" c="dimmed">
            {why}
          </Text>
        )}
      </Group>
      {start.error !== null && <ErrorState error={start.error} />}
    </>
  );
}

function Served({ serving }: { serving: Serving }) {
  const client = useQueryClient();
  const editor = useCan("editor");
  const stop = useSubmit({
    mutationFn: () => api.stopServing(serving.id),
    onSettled: () => void client.invalidateQueries({ queryKey: servingsQuery.queryKey }),
  });
  return (
    <>
      <Group gap="sm" justify="space-between">
        <Group gap="xs" role="status" data-testid="serving-state" data-up={serving.base_url !== null}>
          {serving.base_url === null ? (
            <>
              <Loader size={16} />
              <Text size="sm">{stageOf(serving)}</Text>
            </>
          ) : (
            <Badge color="green">serving</Badge>
          )}
          <Text size="xs" c="dimmed">
            started {formatAgo(serving.created_at)} by {serving.created_by}
            {onCluster(serving.placed_on)}
          </Text>
        </Group>
        {editor && (
          <Button
            size="xs"
            variant="default"
            onClick={() => stop.mutate()}
            loading={stop.isPending}
            data-testid="stop-serving"
          >
            Stop
          </Button>
        )}
      </Group>
      {stop.error !== null && <ErrorState error={stop.error} />}
      {serving.base_url !== null && <Use baseUrl={serving.base_url} policy={serving.policy} />}
    </>
  );
}

const LANGUAGES = [
  { value: "python", label: "Python" },
  { value: "curl", label: "curl" },
];

function Use({ baseUrl, policy }: { baseUrl: string; policy: string }) {
  const [language, setLanguage] = useState<string>("python");
  const { curl, python } = samples(baseUrl, policy);
  const text = language === "curl" ? curl : python;
  return (
    <Stack gap="xs" style={{ minWidth: 0 }}>
      <Group gap="xs">
        <Text size="sm">Base URL</Text>
        <CopyText value={baseUrl} label="Copy the base URL" />
      </Group>
      <Group gap="xs" justify="space-between">
        <SegmentedControl
          size="xs"
          aria-label="Language of the sample"
          data={LANGUAGES}
          value={language}
          onChange={setLanguage}
        />
        <CopyIcon value={text} label="Copy the sample" />
      </Group>
      <Pre label="Sample" whole>
        {text}
      </Pre>
      <Text size="xs" c="dimmed">
        The key is in the environment variable {KEY}. It was shown when the serving was started; without it, stop and
        serve again. The address changes if the cluster has to start the policy again.
      </Text>
    </Stack>
  );
}
