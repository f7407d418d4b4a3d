import { Button, Group, Modal, Paper, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconBrain, IconKey, IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { Policy } from "@/api/model";
import { policiesQuery } from "@/entities/policies/queries";
import { useCan } from "@/features/session/session";
import { formatAgo, formatBytes, formatCount } from "@/lib/format";
import { CopyText } from "@/ui/CopyText";
import { EmptyState } from "@/ui/EmptyState";
import { Facts } from "@/ui/Facts";
import { Loaded } from "@/ui/Loaded";
import { PageHeader } from "@/ui/PageHeader";
import { TextLink } from "@/ui/TextLink";
import ui from "@/ui/ui.module.css";
import { AddPolicyForm } from "./AddPolicyForm";
import { CredentialsForm } from "./CredentialsForm";
import { Imports } from "./Imports";
import { placeOf } from "./place";

export function PoliciesPage() {
  const policies = useQuery(policiesQuery);
  const editor = useCan("editor");
  const admin = useCan("admin");
  const [opened, { open, close }] = useDisclosure(false);
  const [keys, { open: openKeys, close: closeKeys }] = useDisclosure(false);
  const button = editor && (
    <Button leftSection={<IconPlus size={15} />} onClick={open} data-testid="register-policy">
      Add a policy
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Policies"
        description="Models that runs start from."
        actions={
          <Group gap="xs">
            {admin && (
              <Button
                variant="default"
                leftSection={<IconKey size={15} />}
                onClick={openKeys}
                data-testid="policy-credentials"
              >
                Credentials
              </Button>
            )}
            {button}
          </Group>
        }
      />
      <Imports editor={editor} />
      <Loaded query={policies}>
        {({ data: rows }) =>
          rows.length === 0 ? (
            <EmptyState icon={<IconBrain size={40} stroke={1.3} />} title="No policies yet" action={button}>
              Import one from Hugging Face, an object store or a folder on the platform’s machine.
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
      <Modal opened={opened} onClose={close} title="Add a policy">
        <AddPolicyForm onDone={close} />
      </Modal>
      <Modal opened={keys} onClose={closeKeys} title="Credentials for imports">
        <CredentialsForm />
      </Modal>
    </>
  );
}

function PolicyCard({ policy }: { policy: Policy }) {
  return (
    <Paper p="md" component="article" data-testid="policy-card">
      <Group justify="space-between" gap="xs" mb="sm">
        <Title order={2}>
          <TextLink to="/policies/$policyId" params={{ policyId: policy.id }} inherit>
            {policy.name}
          </TextLink>
        </Title>
        <CopyText value={policy.slug} label="Copy reference" />
      </Group>
      <Facts
        facts={[
          ["Architecture", policy.architecture],
          ["Parameters", formatCount(policy.parameters)],
          ["Weights", formatBytes(policy.bytes)],
          ["Context length", `${policy.max_position_embeddings.toLocaleString("en-GB")} tokens`],
          ["From", placeOf(policy)],
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
