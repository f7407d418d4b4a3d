/** A run from a preset, from scratch, or as a fork: form, text, or program. */
import { Alert, Skeleton, Stack } from "@mantine/core";
import { IconDatabase, IconGitFork } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import type { Json } from "@/api/model";
import { checkpointsQuery, recipesQuery, runQuery, specSchemaQuery } from "@/entities/runs/queries";
import { withBatch } from "@/entities/runs/batch";
import { type Objective, objectiveOf } from "@/entities/runs/objective";
import { ErrorState } from "@/ui/ErrorState";
import { PageHeader } from "@/ui/PageHeader";
import { FirstRun } from "./FirstRun";
import { type Answers, nameOfRun, presetFor, specOf, withSource } from "./firstRunSpec";
import { NewRunForm } from "./NewRunForm";
import { ObjectiveChoice } from "./ObjectiveChoice";
import { completed } from "@/entities/runs/objectiveSpec";
import { PresetPicker } from "./PresetPicker";

export function NewRunPage() {
  const {
    recipe,
    fork,
    checkpoint,
    dataset,
    objective: wanted,
    group_size,
    filters,
  } = useSearch({ from: "/app/runs/new" });
  const navigate = useNavigate({ from: "/runs/new" });
  const [answers, setAnswers] = useState<Answers | null>(null);
  const [asked, setAsked] = useState<{ form: string; objective: Objective } | null>(null);
  const schema = useQuery(specSchemaQuery);
  const recipes = useQuery(recipesQuery);
  const parent = useQuery({ ...runQuery(fork ?? ""), enabled: fork !== undefined });
  const checkpoints = useQuery({ ...checkpointsQuery(fork ?? ""), enabled: fork !== undefined });
  const needed = fork === undefined ? [schema, recipes] : [schema, recipes, parent, checkpoints];
  const failed = needed.find(query => query.isError && query.data === undefined);
  if (failed) return <ErrorState error={failed.error} retry={() => void failed.refetch()} />;
  if (!schema.data || !recipes.data || needed.some(query => query.data === undefined)) {
    return (
      <Stack aria-busy="true" aria-label="Loading">
        <Skeleton height={30} width={200} />
        <Skeleton height={90} />
        <Skeleton height={480} />
      </Stack>
    );
  }
  const preset = recipes.data.find(one => one.name === recipe) ?? recipes.data[0];
  const from = fork ? parent.data : undefined;
  const start = (from?.effective_spec ?? from?.spec ?? preset?.spec ?? {}) as Json;
  const base = completed(schema.data, start);
  const source = from || answers ? undefined : dataset;
  const drafted = from && completed(schema.data, withBatch(start, { group_size, filters }));
  const initial = drafted ? drafted : answers ? specOf(base, answers) : source ? withSource(base, source) : base;
  const form = `${from?.id ?? ""}${preset?.name ?? ""}${source ?? ""}${JSON.stringify(answers)}`;
  // Another preset starts with its own objective.
  const first = (from || answers ? undefined : wanted) ?? objectiveOf(initial);
  const objective = asked?.form === form ? asked.objective : first;
  const presets = recipes.data.filter(one => objectiveOf(one.spec) === objective);
  const answer = (next: Answers) => {
    setAnswers(next);
    const fitting = presetFor(next.policy.parameters, recipes.data);
    void navigate({ search: { recipe: fitting?.name }, replace: true });
  };
  const origin = checkpoints.data?.data.find(one => one.id === checkpoint) ?? checkpoints.data?.data[0];
  return (
    <>
      <PageHeader
        title={from ? "Fork a run" : "New run"}
        description={from ? undefined : "Choose an objective and a preset, change what you need, and start."}
        actions={from || objective !== "rl" ? undefined : <FirstRun onAnswer={answer} />}
      />
      {schema.data.properties?.objective && (
        <ObjectiveChoice
          value={objective}
          fixed={from !== undefined}
          onChange={next => setAsked({ form, objective: next })}
        />
      )}
      {from ? (
        <Alert color="petrol" variant="light" icon={<IconGitFork size={18} />} mb="md" py="xs">
          {origin
            ? `A new run with the weights of “${from.name}” at step ${origin.step}. Its steps count from 1.`
            : `A new run like “${from.name}”, which has no checkpoint: it starts from the base policy.`}
        </Alert>
      ) : (
        presets.length > 0 && (
          <PresetPicker
            key={objective}
            recipes={presets}
            value={preset?.name ?? ""}
            onChange={name => {
              setAnswers(null);
              void navigate({ search: { recipe: name, dataset: source }, replace: true });
            }}
          />
        )
      )}
      {source && (
        <Alert
          color="petrol"
          variant="light"
          icon={<IconDatabase size={18} />}
          mb="md"
          py="xs"
          data-testid="run-source"
        >
          {objective === "rl"
            ? `It uses prompts from ${source} alone. Check that the reward can grade its rows.`
            : `It learns from ${source} alone. Check that the columns below are those of its rows.`}
        </Alert>
      )}
      <NewRunForm
        key={form}
        schema={schema.data}
        base={base}
        initial={initial}
        baseLabel={from ? "the run it is forked from" : "the preset"}
        name={from ? `${from.name} (fork)` : answers ? nameOfRun(answers) : (preset?.title ?? "")}
        objective={objective}
        onObjective={next => setAsked({ form, objective: next })}
        fork={from && { run: from.id, checkpoint: origin?.id ?? null }}
      />
    </>
  );
}
