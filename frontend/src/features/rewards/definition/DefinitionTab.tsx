/** The definition on the left, a quick try on the right; saving shows what changes first. */
import { Button, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import type { FieldError } from "@/api/model";
import type { JsonSchema, Reward, RewardVersion, Spec } from "@/api/model";
import type { Pasted } from "@/features/rewards/samples/samples";
import { useCan } from "@/features/session/session";
import { TextLink } from "@/ui/TextLink";
import classes from "./definition.module.css";
import { DefinitionForm } from "./DefinitionForm";
import { QuickTry } from "./QuickTry";
import { SaveVersion } from "./SaveVersion";
import { type Draft, hasDraft } from "./useDraft";

interface Props {
  schema: JsonSchema;
  reward: Reward;
  versions: RewardVersion[];
  base: Spec;
  draft: Draft;
  draftKey: string;
  samples: Pasted[];
  onSamples: (next: Pasted[]) => void;
  onBench: () => void;
}

export function DefinitionTab(props: Props) {
  const { schema, reward, versions, base, draft, draftKey, samples, onSamples, onBench } = props;
  const [errors, setErrors] = useState<FieldError[]>([]);
  const [saving, { open, close }] = useDisclosure(false);
  const editor = useCan("editor");
  const next = (versions[0]?.number ?? 0) + 1;
  const left = versions.find(one => one.ref !== draftKey && hasDraft(one.ref));
  return (
    <div className={classes.split}>
      <Stack gap="sm">
        <Paper p="md" component="section" aria-label="Definition">
          <Title order={2} mb="xs">
            Definition
          </Title>
          {left && (
            <Text size="xs" c="dimmed" mb="xs" data-testid="left-draft">
              You have unsaved changes to version {left.number}.{" "}
              <TextLink
                from="/rewards/$rewardId"
                to="/rewards/$rewardId"
                search={{ version: left.number }}
                size="xs"
                underline="always"
              >
                Continue editing
              </TextLink>
            </Text>
          )}
          <DefinitionForm
            schema={schema}
            definition={draft.definition}
            base={base}
            errors={errors}
            samples={samples}
            onChange={draft.set}
          />
        </Paper>
        {editor && (
          <Group gap="xs" justify="flex-end" className={classes.bar}>
            <Text size="xs" c="dimmed" flex={1} miw={180} visibleFrom="sm">
              {draft.changed ? "Runs keep the version they name: versions never change." : "No changes yet."}
            </Text>
            <Button
              variant="default"
              disabled={!draft.changed}
              onClick={() => {
                draft.discard();
                setErrors([]);
              }}
            >
              Discard
            </Button>
            <Button disabled={!draft.changed} onClick={open} data-testid="save-reward">
              Save as version {next}…
            </Button>
          </Group>
        )}
      </Stack>
      <div className={classes.side}>
        <QuickTry definition={draft.definition} samples={samples} onSamples={onSamples} onBench={onBench} />
      </div>
      <SaveVersion
        opened={saving}
        onClose={close}
        schema={schema}
        reward={reward}
        latest={versions[0]}
        definition={draft.definition}
        draftKey={draftKey}
        onRefused={setErrors}
      />
    </div>
  );
}
