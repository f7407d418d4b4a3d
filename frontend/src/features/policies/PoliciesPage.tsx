import { Button, Group, Modal, Paper, Stack, Text, TextInput, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconBrain, IconPlus } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { policies as policiesApi } from "@/api/client";
import type { Policy } from "@/api/model";
import { fieldError, restError } from "@/api/problems";
import { policiesQuery } from "@/features/policies/data/queries";
import { useCan } from "@/features/session/session";
import { formatAgo, formatBytes, formatCount } from "@/lib/format";
import { useSubmit } from "@/lib/useSubmit";
import { CopyText } from "@/ui/CopyText";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { Facts } from "@/ui/Facts";
import { Loaded } from "@/ui/Loaded";
import { PageHeader } from "@/ui/PageHeader";
import { MONO } from "@/ui/styles";
import ui from "@/ui/ui.module.css";

export function PoliciesPage() {
  const policies = useQuery(policiesQuery);
  const editor = useCan("editor");
  const [opened, { open, close }] = useDisclosure(false);
  const button = editor && (
    <Button leftSection={<IconPlus size={15} />} onClick={open} data-testid="register-policy">
      Register a policy
    </Button>
  );
  return (
    <>
      <PageHeader title="Policies" description="Base policies that runs begin with." actions={button} />
      <Loaded query={policies}>
        {({ data: rows }) =>
          rows.length === 0 ? (
            <EmptyState icon={<IconBrain size={40} stroke={1.3} />} title="No policies yet" action={button}>
              Register a local Hugging Face folder with safetensors weights. It is checked and stays where it is.
            </EmptyState>
          ) : (
            <div className={ui.cards}>
              {rows.map(policy => (
                <PolicyCard key={policy.id} policy={policy} />
              ))}
            </div>
          )
        }
      </Loaded>
      <Modal opened={opened} onClose={close} title="Register a policy">
        <RegisterForm onDone={close} />
      </Modal>
    </>
  );
}

function PolicyCard({ policy }: { policy: Policy }) {
  return (
    <Paper p="md" component="article" data-testid="policy-card">
      <Group justify="space-between" mb="sm" wrap="nowrap">
        <Title order={2}>{policy.name}</Title>
        <CopyText value={policy.slug} label="Copy the name for specs" />
      </Group>
      <Facts
        facts={[
          ["Architecture", policy.architecture],
          ["Parameters", formatCount(policy.parameters)],
          ["Weights", formatBytes(policy.bytes)],
          ["Vocabulary", policy.vocab_size.toLocaleString("en-GB")],
          ["Longest context", `${policy.max_position_embeddings.toLocaleString("en-GB")} tokens`],
          ["Registered", formatAgo(policy.created_at)],
        ]}
      />
      {policy.path !== undefined && (
        <Text size="xs" c="dimmed" mt="sm" className={`mono ${ui.hash}`} title={policy.path}>
          {policy.path}
        </Text>
      )}
      <Text size="xs" c="dimmed" className={`mono ${ui.hash}`} title={policy.sha256}>
        sha256 {policy.sha256}
      </Text>
    </Paper>
  );
}

function RegisterForm({ onDone }: { onDone: () => void }) {
  const [name, setName] = useState("");
  const [path, setPath] = useState("");
  const client = useQueryClient();
  const register = useSubmit({
    mutationFn: () => policiesApi.register(name, path),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["policies"] });
      onDone();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    register.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {restError(register.error, ["/name", "/slug", "/path"]) !== null && <ErrorState error={register.error} />}
        <TextInput
          label="Name"
          value={name}
          onChange={event => setName(event.currentTarget.value)}
          error={fieldError(register.error, "/name") ?? fieldError(register.error, "/slug")}
          maxLength={120}
          required
          data-autofocus
        />
        <TextInput
          label="Folder"
          description="A Hugging Face folder on the platform’s machine: config.json, a tokenizer and safetensors weights."
          value={path}
          onChange={event => setPath(event.currentTarget.value)}
          error={fieldError(register.error, "/path")}
          styles={MONO}
          required
        />
        <Group justify="flex-end">
          <Button type="submit" loading={register.isPending}>
            Register
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
