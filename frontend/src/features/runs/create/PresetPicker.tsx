import { Group, SegmentedControl, Text, TextInput, UnstyledButton } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { type KeyboardEvent, useState } from "react";
import type { Recipe } from "@/api/model";
import { PresetNeeds } from "./PresetNeeds";
import classes from "./create.module.css";

interface Props {
  recipes: Recipe[];
  value: string;
  onChange: (name: string) => void;
}

/** Below this many, all presets fit on the screen. */
const MANY = 8;
const STEPS: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

export function PresetPicker({ recipes, value, onChange }: Props) {
  const [text, setText] = useState("");
  const chosen = recipes.find(recipe => recipe.name === value);
  const [real, setReal] = useState(Boolean(chosen?.published));
  const some = recipes.some(recipe => recipe.published);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = recipes.filter(recipe => {
    const whole = `${recipe.name} ${recipe.title} ${recipe.description} ${sizeOf(recipe)}`.toLowerCase();
    return Boolean(recipe.published) === real && words.every(word => whole.includes(word));
  });
  // One stop of the tab key for all: arrows go from one to the next, and choosing is Enter or the space bar.
  const stop = found.some(recipe => recipe.name === value) ? value : found[0]?.name;
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const by = STEPS[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const all = [...event.currentTarget.querySelectorAll<HTMLElement>('[role="radio"]')];
    const at = all.indexOf(document.activeElement as HTMLElement);
    all[(at + by + all.length) % all.length]?.focus();
  };
  return (
    <div style={{ marginBottom: 16 }}>
      {recipes.length > MANY && (
        <Group gap="sm" mb={8}>
          {some && (
            <SegmentedControl
              size="xs"
              aria-label="Preset size"
              value={real ? "real" : "starter"}
              onChange={next => setReal(next === "real")}
              data={[
                { value: "starter", label: "Starter policy" },
                { value: "real", label: "Real models" },
              ]}
            />
          )}
          <TextInput
            size="xs"
            w={260}
            aria-label="Search presets"
            placeholder={`Search ${recipes.length} presets`}
            leftSection={<IconSearch size={14} />}
            value={text}
            onChange={event => setText(event.currentTarget.value)}
          />
          {chosen && (
            <Text size="xs" c="dimmed">
              selected: {chosen.title}
            </Text>
          )}
        </Group>
      )}
      <div className={classes.presets} role="radiogroup" aria-label="Preset" tabIndex={-1} onKeyDown={onKeyDown}>
        {found.map(recipe => (
          <UnstyledButton
            key={recipe.name}
            role="radio"
            aria-checked={recipe.name === value}
            tabIndex={recipe.name === stop ? 0 : -1}
            className={classes.preset}
            onClick={() => onChange(recipe.name)}
            data-testid={`preset-${recipe.name}`}
          >
            <Text size="sm" fw={570}>
              {recipe.title}
            </Text>
            {recipe.published && (
              <Text size="xs" mt={2}>
                {sizeOf(recipe)}
              </Text>
            )}
            <Text size="xs" c="dimmed" mt={2}>
              {recipe.description}
            </Text>
          </UnstyledButton>
        ))}
      </div>
      {chosen?.published && <PresetNeeds published={chosen.published} spec={chosen.spec} />}
      {found.length === 0 && (
        <Text size="sm" c="dimmed" role="status">
          No matching presets.
        </Text>
      )}
    </div>
  );
}

/** The model and the machine of a preset for a real model. */
function sizeOf({ published }: Recipe): string {
  return published ? `${published.model.replace(/^.*\//, "")} · ${published.machine}` : "";
}
