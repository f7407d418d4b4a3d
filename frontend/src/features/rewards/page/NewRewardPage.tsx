/** Creates a reward: a name, a definition, and samples to try it on. */
import { Button, Group, Paper, Stack, TextInput, Title } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import * as api from "@/api/client";
import type { JsonSchema } from "@/api/model";
import { fieldError } from "@/api/problems";
import { rewardSchemaQuery } from "@/entities/rewards/queries";
import classes from "@/features/rewards/definition/definition.module.css";
import { DefinitionForm } from "@/features/rewards/definition/DefinitionForm";
import { definitionErrors } from "@/features/rewards/definition/errors";
import { QuickTry } from "@/features/rewards/definition/QuickTry";
import { TemplatePicker } from "@/features/rewards/definition/TemplatePicker";
import { definitionOf, type Template, templates } from "@/features/rewards/definition/templates";
import { useDraft, forgetDraft } from "@/features/rewards/definition/useDraft";
import { FIRST, type Pasted } from "@/features/rewards/samples/samples";
import { useCan } from "@/features/session/session";
import { useSubmit } from "@/lib/useSubmit";
import { Crumbs } from "@/ui/Crumbs";
import { ErrorState } from "@/ui/ErrorState";
import { Loaded } from "@/ui/Loaded";
import { PageHeader } from "@/ui/PageHeader";
import { Placeholder } from "@/ui/Placeholder";

export function NewRewardPage() {
  const schema = useQuery(rewardSchemaQuery);
  return (
    <Loaded query={schema} skeleton={<Placeholder height={480} />}>
      {found => <NewReward schema={found} />}
    </Loaded>
  );
}

const KEY = "new";

function NewReward({ schema }: { schema: JsonSchema }) {
  const [template, setTemplate] = useState<Template | undefined>(templates[0]);
  const base = useMemo(() => definitionOf(template, schema), [template, schema]);
  const draft = useDraft(KEY, base);
  const [name, setName] = useState("");
  const [samples, setSamples] = useState<Pasted[]>([FIRST]);
  const editor = useCan("editor");
  const navigate = useNavigate();
  const client = useQueryClient();
  const save = useSubmit({
    mutationFn: () => api.createReward({ name, definition: draft.definition }),
    onSuccess: async made => {
      forgetDraft(KEY);
      await client.invalidateQueries({ queryKey: ["rewards"] });
      void navigate({ to: "/rewards/$rewardId", params: { rewardId: made.id }, search: {} });
    },
  });
  return (
    <>
      <Crumbs to="/rewards" label="Rewards" here="new" />
      <PageHeader title="New reward" />
      <div className={classes.split}>
        <Stack gap="sm">
          <Paper p="md" component="section" aria-label="Definition">
            <Title order={2} mb="xs">
              Definition
            </Title>
            <TextInput
              label="Name"
              value={name}
              onChange={event => setName(event.currentTarget.value)}
              error={fieldError(save.error, "/name") ?? fieldError(save.error, "/slug")}
              maxLength={120}
              required
              mb="sm"
            />
            <TemplatePicker
              value={template?.id ?? null}
              changed={draft.changed}
              onChoose={next => {
                setTemplate(next);
                draft.set(definitionOf(next, schema));
              }}
            />
            <DefinitionForm
              key={template?.id}
              schema={schema}
              definition={draft.definition}
              base={base}
              errors={definitionErrors(save.error)}
              samples={samples}
              onChange={draft.set}
            />
          </Paper>
          {save.error && <ErrorState error={save.error} />}
          {editor && (
            <Group justify="flex-end" className={classes.bar}>
              <Button
                loading={save.isPending}
                disabled={!name.trim()}
                onClick={() => save.mutate()}
                data-testid="save-reward"
              >
                Create reward
              </Button>
            </Group>
          )}
        </Stack>
        <div className={classes.side}>
          <QuickTry definition={draft.definition} samples={samples} onSamples={setSamples} />
        </div>
      </div>
    </>
  );
}
