/** Four questions whose answers fill the form, for first-time users. */
import { Button, Group, Modal, SegmentedControl, Select, Skeleton, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconListNumbers } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { DatasetVersion, Policy, Reward } from "@/api/model";
import { datasetsQuery } from "@/entities/datasets/queries";
import { policiesQuery } from "@/entities/policies/queries";
import { rewardsQuery } from "@/entities/rewards/queries";
import { formatCount } from "@/lib/format";
import { Loaded } from "@/ui/Loaded";
import { TextLink } from "@/ui/TextLink";
import { type Answers, looksHeldOut } from "./firstRunSpec";

const LENGTHS = [
  { value: "20", label: "20 (smoke test)" },
  { value: "100", label: "100" },
  { value: "300", label: "300" },
];

export function FirstRun({ onAnswer }: { onAnswer: (answers: Answers) => void }) {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconListNumbers size={14} />}
        onClick={open}
        data-testid="first-run"
      >
        Answer four questions
      </Button>
      <Modal opened={opened} onClose={close} title="A run in four questions" size="lg">
        <Questions
          onAnswer={answers => {
            close();
            onAnswer(answers);
          }}
        />
      </Modal>
    </>
  );
}

function Questions({ onAnswer }: { onAnswer: (answers: Answers) => void }) {
  const policies = useQuery(policiesQuery);
  const datasets = useQuery(datasetsQuery);
  const rewards = useQuery(rewardsQuery);
  const skeleton = <Skeleton height={320} />;
  return (
    <Loaded query={policies} skeleton={skeleton}>
      {({ data: policies }) => (
        <Loaded query={datasets} skeleton={skeleton}>
          {({ data: datasets }) => (
            <Loaded query={rewards} skeleton={skeleton}>
              {({ data: rewards }) => (
                <Form
                  policies={policies}
                  versions={datasets.flatMap(dataset => dataset.versions.filter(one => !one.deleted_at))}
                  rewards={rewards}
                  onAnswer={onAnswer}
                />
              )}
            </Loaded>
          )}
        </Loaded>
      )}
    </Loaded>
  );
}

interface FormProps {
  policies: Policy[];
  versions: DatasetVersion[];
  rewards: Reward[];
  onAnswer: (answers: Answers) => void;
}

function Form({ policies, versions, rewards, onAnswer }: FormProps) {
  const [policy, setPolicy] = useState<string | null>(policies[0]?.slug ?? null);
  const [data, setData] = useState<string | null>(null);
  const [heldOut, setHeldOut] = useState<string | null>(null);
  const [reward, setReward] = useState<string | null>(null);
  const [steps, setSteps] = useState("100");
  const chosen = policies.find(one => one.slug === policy);
  const rows = (one: DatasetVersion) => ({ value: one.ref, label: `${one.ref} · ${formatCount(one.rows)} rows` });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (chosen && data && reward) onAnswer({ policy: chosen, data, heldOut, reward, steps: Number(steps) });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Select
          label="1. Which model?"
          data={policies.map(one => ({
            value: one.slug,
            label: `${one.name} · ${formatCount(one.parameters)} parameters`,
          }))}
          value={policy}
          onChange={setPolicy}
          allowDeselect={false}
          searchable
          required
          description={
            policies.length === 0 && (
              <>
                None yet: <TextLink to="/policies">add one</TextLink>.
              </>
            )
          }
        />
        <div>
          <Select
            label="2. Which prompts?"
            placeholder="Dataset version"
            data={versions.filter(one => !looksHeldOut(one)).map(rows)}
            value={data}
            onChange={setData}
            searchable
            required
            description={
              versions.length === 0 && (
                <>
                  None yet: <TextLink to="/datasets">upload some</TextLink>.
                </>
              )
            }
          />
          <Select
            mt={6}
            size="xs"
            placeholder="Held-out rows to evaluate on (optional)"
            aria-label="Held-out rows"
            data={versions.filter(one => one.ref !== data).map(rows)}
            value={heldOut}
            onChange={setHeldOut}
            searchable
            clearable
          />
        </div>
        <Select
          label="3. Which reward?"
          placeholder="Reward version"
          data={rewards.flatMap(one =>
            one.versions.map(version => ({ value: version.ref, label: `${one.name} · ${version.ref}` })),
          )}
          value={reward}
          onChange={setReward}
          searchable
          required
          description={
            <>
              None that fits? <TextLink to="/rewards/new">Create one</TextLink> from a template.
            </>
          }
        />
        <div>
          <Text size="sm" fw={500} mb={4}>
            4. How many steps?
          </Text>
          <SegmentedControl aria-label="Steps" data={LENGTHS} value={steps} onChange={setSteps} />
        </div>
        <Group justify="space-between">
          <Text size="xs" c="dimmed" maw={360}>
            Fills the form with GRPO settings for this policy’s size. Nothing starts yet.
          </Text>
          <Button type="submit" disabled={!chosen || !data || !reward}>
            Fill form
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
