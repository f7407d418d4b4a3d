/** The rubric grader in a definition's form: its items, how they are asked, and the judge's input. */
import { Stack } from "@mantine/core";
import type { FieldProps } from "@/features/schema-form/context";
import { ObjectFields } from "@/features/schema-form/ObjectFields";
import { isObject } from "@/features/schema-form/schema";
import { PromptEditor } from "./PromptEditor";
import { RubricItems } from "./RubricItems";

export function RubricFields({ schema, path, value, onChange }: FieldProps) {
  const grader = isObject(value) ? value : {};
  return (
    <Stack gap="sm" data-testid="rubric-editor">
      <RubricItems
        path={[...path, "items"]}
        value={grader.items}
        max={schema.properties?.items?.maxItems}
        onChange={items => onChange({ ...grader, items })}
      />
      <ObjectFields schema={schema} path={path} value={value} onChange={onChange} skip={["type", "items", "prompt"]} />
      <PromptEditor grader={grader} path={[...path, "prompt"]} onChange={prompt => onChange({ ...grader, prompt })} />
    </Stack>
  );
}
