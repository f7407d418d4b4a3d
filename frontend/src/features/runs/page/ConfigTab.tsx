/** The spec as it is in force, and how it differs from what the run or its preset started with. */
import { Group, Paper, SegmentedControl, Select, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { stringify } from "yaml";
import type { Json, JsonSchema, Recipe, Run } from "@/api/model";
import { type Objective, objectiveOf } from "@/entities/runs/objective";
import { completed } from "@/entities/runs/objectiveSpec";
import { recipesQuery, specSchemaQuery } from "@/entities/runs/queries";
import { ChangeList } from "@/features/schema-form/ChangeList";
import { diff, same } from "@/features/schema-form/pointer";
import { CopyIcon } from "@/ui/CopyText";
import { Pre } from "@/ui/Pre";
import ui from "@/ui/ui.module.css";

/** Presets of the run's objective: others differ in everything. */
const presets = (schema: JsonSchema, recipes: Recipe[], objective: Objective) =>
  recipes
    .filter(recipe => objectiveOf(recipe.spec) === objective)
    .map(recipe => ({
      value: `recipe:${recipe.name}`,
      label: `preset “${recipe.title}”`,
      spec: completed(schema, recipe.spec) as Json,
    }));

export function ConfigTab({ run }: { run: Run }) {
  const [format, setFormat] = useState("yaml");
  const recipes = useQuery(recipesQuery);
  const schema = useQuery(specSchemaQuery);
  const [against, setAgainst] = useState<string | null>(null);
  const spec = (run.effective_spec ?? run.spec ?? {}) as Json;
  const bases: { value: string; label: string; spec: Json }[] = [
    { value: "start", label: "the initial spec", spec: (run.spec ?? {}) as Json },
    ...(recipes.data && schema.data ? presets(schema.data, recipes.data, objectiveOf(spec)) : []),
  ];
  const steered = !same(run.spec, run.effective_spec);
  const chosen = against ?? (steered || bases.length < 2 ? "start" : (bases[1]?.value ?? "start"));
  const base = bases.find(one => one.value === chosen) ?? bases[0];
  const text = format === "yaml" ? stringify(spec) : JSON.stringify(spec, null, 2);
  return (
    <div style={{ display: "grid", gap: 12 }}>
      <Paper p="sm">
        <Group justify="space-between" mb="xs" gap="xs">
          <Title order={2} fz="md">
            Differences
          </Title>
          <Select
            size="xs"
            aria-label="Compare with"
            data={bases.map(({ value, label }) => ({ value, label }))}
            value={chosen}
            onChange={setAgainst}
            allowDeselect={false}
            w={280}
          />
        </Group>
        <ChangeList changes={diff(base?.spec, spec)} empty="No difference." />
      </Paper>
      <Paper p="sm">
        <div className={ui.toolbar}>
          <Title order={2} fz="md">
            Resolved spec
          </Title>
          {steered && (
            <Text size="xs" c="dimmed">
              with every applied control
            </Text>
          )}
          <Group gap={6} ml="auto">
            <SegmentedControl
              size="xs"
              data={["yaml", "json"]}
              value={format}
              onChange={setFormat}
              aria-label="Format"
            />
            <CopyIcon value={text} label="Copy the spec" />
          </Group>
        </div>
        <Pre label="Resolved spec" whole>
          {text}
        </Pre>
      </Paper>
    </div>
  );
}
