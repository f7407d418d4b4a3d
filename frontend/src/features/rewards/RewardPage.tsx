/** A reward: definition on the left, the bench that tries it on the right. */
import { rewards } from "@/api/client";
import {
  Alert,
  Anchor,
  Breadcrumbs,
  Button,
  Group,
  Paper,
  Select,
  Skeleton,
  Stack,
  Text,
  TextInput,
  Title,
} from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { Problem } from "@/api/http";
import type { Json, Reward, RewardVersion, Spec } from "@/api/model";
import { same } from "@/features/schema-form/pointer";
import { initialValue, type JsonSchema, withDefaults } from "@/features/schema-form/schema";
import { SchemaForm } from "@/features/schema-form/SchemaForm";
import { useCan } from "@/features/session/session";
import { formatAgo } from "@/lib/format";
import { fieldError, formError } from "@/lib/problems";
import { CopyText } from "@/ui/CopyText";
import { ErrorState } from "@/ui/ErrorState";
import { PageHeader } from "@/ui/PageHeader";
import ui from "@/ui/ui.module.css";
import { Bench } from "./Bench";
import { rewardQuery, rewardSchemaQuery } from "./queries";

export function RewardPage() {
  const { rewardId } = useParams({ from: "/app/rewards/$rewardId" });
  const { version: wanted } = useSearch({ from: "/app/rewards/$rewardId" });
  const reward = useQuery(rewardQuery(rewardId));
  const schema = useQuery(rewardSchemaQuery);
  const error = reward.error ?? schema.error;
  if (error) return <ErrorState error={error} />;
  if (!reward.data || !schema.data) return <Skeleton height={480} aria-label="Loading" />;
  const versions = [...(reward.data.versions ?? [])].sort((a, b) => b.number - a.number);
  const version = versions.find(one => one.number === wanted) ?? versions[0];
  if (!version) return <ErrorState error={new Error("This reward has no version.")} />;
  return (
    <Editor
      key={`${reward.data.id}@${version.number}`}
      schema={schema.data}
      reward={reward.data}
      versions={versions}
      version={version}
    />
  );
}

export function NewRewardPage() {
  const schema = useQuery(rewardSchemaQuery);
  if (schema.isError) return <ErrorState error={schema.error} />;
  if (!schema.data) return <Skeleton height={480} aria-label="Loading" />;
  return <Editor schema={schema.data} />;
}

interface EditorProps {
  schema: JsonSchema;
  reward?: Reward;
  versions?: RewardVersion[];
  version?: RewardVersion;
}

function Editor({ schema, reward, versions = [], version }: EditorProps) {
  const base = version ? (withDefaults(schema, schema, version.definition) as Spec) : firstDefinition(schema);
  const [definition, setDefinition] = useState<Spec>(base);
  const [name, setName] = useState("");
  const [note, setNote] = useState("");
  const editor = useCan("editor");
  const navigate = useNavigate();
  const client = useQueryClient();
  const save = useMutation({
    mutationFn: () =>
      reward
        ? rewards.createVersion(reward.id, definition, note).then(() => reward.id)
        : rewards.create(name, definition).then(made => made.id),
    onSuccess: async id => {
      await client.invalidateQueries({ queryKey: ["rewards"] });
      void navigate({ to: "/rewards/$rewardId", params: { rewardId: id }, search: {} });
    },
  });
  const errors = save.error instanceof Problem ? save.error.errors.map(strip) : [];
  const changed = !same(base, definition);
  return (
    <>
      <Breadcrumbs mb={4} fz="xs" separatorMargin={6}>
        <Anchor component={Link} to="/rewards" size="xs">
          Rewards
        </Anchor>
        <span className="mono">{reward?.slug ?? "new"}</span>
      </Breadcrumbs>
      <PageHeader
        title={reward?.name ?? "New reward"}
        description={
          version &&
          `Version ${version.number}, ${formatAgo(version.created_at)} by ${version.created_by}${version.note ? `: ${version.note}` : ""}`
        }
        actions={
          version && (
            <>
              <CopyText value={version.ref} label="Copy the name for specs" />
              <Select
                aria-label="Version"
                data={versions.map(one => ({ value: String(one.number), label: `Version ${one.number}` }))}
                value={String(version.number)}
                onChange={next =>
                  void navigate({
                    to: "/rewards/$rewardId",
                    params: { rewardId: reward?.id ?? "" },
                    search: { version: next ? Number(next) : undefined },
                  })
                }
                allowDeselect={false}
                w={130}
              />
            </>
          )
        }
      />
      <div className={ui.split}>
        <Stack gap="sm">
          <Paper p="md" component="section" aria-label="Definition">
            <Title order={2} mb="xs">
              Definition
            </Title>
            {!reward && (
              <TextInput
                label="Name"
                value={name}
                onChange={event => setName(event.currentTarget.value)}
                error={fieldError(save.error, "/name") ?? fieldError(save.error, "/slug")}
                maxLength={120}
                required
                mb="sm"
              />
            )}
            <SchemaForm
              schema={schema}
              value={definition as Json}
              base={base as Json}
              errors={errors}
              readOnly={!editor}
              onChange={next => setDefinition(next as Spec)}
            />
          </Paper>
          {formError(save.error) !== null && <ErrorState error={save.error} />}
          {editor && (
            <Group gap="xs" align="flex-end">
              {reward && (
                <TextInput
                  flex={1}
                  placeholder="What has changed"
                  aria-label="Note of the new version"
                  value={note}
                  onChange={event => setNote(event.currentTarget.value)}
                />
              )}
              <Button
                loading={save.isPending}
                disabled={reward ? !changed : !name.trim()}
                onClick={() => save.mutate()}
                data-testid="save-reward"
              >
                {reward ? `Save as version ${(versions[0]?.number ?? 0) + 1}` : "Create the reward"}
              </Button>
            </Group>
          )}
          {reward && changed && (
            <Alert color="petrol" p="xs">
              <Text size="xs">Runs that name an earlier version keep it: versions never change.</Text>
            </Alert>
          )}
        </Stack>
        <Bench definition={definition} />
      </div>
    </>
  );
}

/** One component, so that the form begins with something to change. */
function firstDefinition(schema: JsonSchema): Spec {
  const made = initialValue(schema, schema) as Spec;
  const components = made.components as Json[] | undefined;
  const first = components?.[0];
  if (typeof first === "object" && first !== null && !Array.isArray(first)) first.name = "correct";
  return made;
}

function strip(error: { pointer: string; detail: string }): { pointer: string; detail: string } {
  return { ...error, pointer: error.pointer.replace(/^\/definition(?=\/|$)/, "") };
}
