import { Text, UnstyledButton } from "@mantine/core";
import type { Recipe } from "@/api/model";
import classes from "./runs.module.css";

interface Props {
  recipes: Recipe[];
  value: string;
  onChange: (name: string) => void;
}

export function PresetPicker({ recipes, value, onChange }: Props) {
  return (
    <div className={classes.presets} role="radiogroup" aria-label="Preset" style={{ marginBottom: 16 }}>
      {recipes.map(recipe => (
        <UnstyledButton
          key={recipe.name}
          role="radio"
          aria-checked={recipe.name === value}
          className={classes.preset}
          onClick={() => onChange(recipe.name)}
          data-testid={`preset-${recipe.name}`}
        >
          <Text size="sm" fw={570}>
            {recipe.title}
          </Text>
          <Text size="xs" c="dimmed" mt={2}>
            {recipe.description}
          </Text>
        </UnstyledButton>
      ))}
    </div>
  );
}
