/** The team's credentials for imports. They are stored, and never returned. */
import { Alert, Button, Group, PasswordInput, Stack, Text, TextInput, Title } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import * as api from "@/api/client";
import type { PolicySource } from "@/api/model";
import { fieldError, restError } from "@/api/problems";
import { formatAgo } from "@/lib/format";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";
import { Loaded } from "@/ui/Loaded";
import { sourcesQuery } from "@/entities/policies/queries";

export function CredentialsForm() {
  const query = useQuery(sourcesQuery);
  return (
    <Loaded query={query}>
      {({ hub, bucket }) => (
        <Stack gap="lg">
          <HubToken source={hub} />
          <BucketKeys source={bucket} />
        </Stack>
      )}
    </Loaded>
  );
}

function HubToken({ source }: { source: PolicySource }) {
  const [token, setToken] = useState("");
  const { save, forget } = useCredentials(
    () => api.setHubToken({ token: token.trim() }),
    () => api.forgetHubToken(),
    () => setToken(""),
  );
  return (
    <Section
      title="Hugging Face"
      source={source}
      save={save}
      forget={forget}
      fields={["/token"]}
      note="A read token, for private repositories and gated ones whose conditions its account has accepted."
    >
      <PasswordInput
        label="Token"
        placeholder="hf_…"
        autoComplete="off"
        value={token}
        onChange={event => setToken(event.currentTarget.value)}
        error={fieldError(save.error, "/token")}
        required
      />
    </Section>
  );
}

function BucketKeys({ source }: { source: PolicySource }) {
  const [id, setId] = useState("");
  const [secret, setSecret] = useState("");
  const { save, forget } = useCredentials(
    () => api.setBucketKeys({ access_key_id: id.trim(), secret_access_key: secret.trim() }),
    () => api.forgetBucketKeys(),
    () => {
      setId("");
      setSecret("");
    },
  );
  return (
    <Section
      title="Object store"
      source={source}
      save={save}
      forget={forget}
      fields={["/access_key_id", "/secret_access_key"]}
      note="Keys that can list the bucket and read its objects."
    >
      <TextInput
        label="Access key id"
        autoComplete="off"
        value={id}
        onChange={event => setId(event.currentTarget.value)}
        error={fieldError(save.error, "/access_key_id")}
        required
      />
      <PasswordInput
        label="Secret access key"
        autoComplete="off"
        value={secret}
        onChange={event => setSecret(event.currentTarget.value)}
        error={fieldError(save.error, "/secret_access_key")}
        required
      />
    </Section>
  );
}

function useCredentials(send: () => Promise<unknown>, drop: () => Promise<unknown>, clear: () => void) {
  const client = useQueryClient();
  const onSuccess = async () => {
    clear();
    await client.invalidateQueries({ queryKey: ["policy-sources"] });
  };
  const save = useSubmit({ mutationFn: send, onSuccess });
  const forget = useSubmit({ mutationFn: drop, onSuccess });
  return { save, forget };
}

interface SectionProps {
  title: string;
  source: PolicySource;
  save: ReturnType<typeof useCredentials>["save"];
  forget: ReturnType<typeof useCredentials>["forget"];
  fields: string[];
  note: string;
  children: ReactNode;
}

function Section({ title, source, save, forget, fields, note, children }: SectionProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <Stack component="form" gap="xs" onSubmit={submit} aria-label={title}>
      <Title order={3}>{title}</Title>
      <Text size="xs" c="dimmed">
        {source.endpoint ?? "Amazon S3"}. {note}
      </Text>
      {source.has_credentials && (
        <Alert color="petrol" p="xs">
          Stored by {source.set_by}, {formatAgo(source.set_at)}. Encrypted and never shown; new ones replace them.
        </Alert>
      )}
      {restError(save.error, fields) !== null && <ErrorState error={save.error} />}
      {forget.error !== null && <ErrorState error={forget.error} />}
      {children}
      <Group justify="flex-end" gap="xs">
        {source.has_credentials && (
          <Button variant="default" color="red" onClick={() => forget.mutate()} loading={forget.isPending}>
            Delete
          </Button>
        )}
        <Button type="submit" loading={save.isPending}>
          Save
        </Button>
      </Group>
    </Stack>
  );
}
