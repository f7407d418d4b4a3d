/** The form of a definition, with the rubric editor in the place of the rubric grader's plain fields. */
import { useMemo } from "react";
import type { FieldError } from "@/api/model";
import type { Json, JsonSchema, Spec } from "@/api/model";
import { PICKERS } from "@/features/pickers/pickers";
import { PreviewContext } from "@/features/rewards/rubric/PreviewContext";
import { RubricFields } from "@/features/rewards/rubric/RubricFields";
import { FIRST, objectOf, type Pasted } from "@/features/rewards/samples/samples";
import { SchemaForm } from "@/features/schema-form/SchemaForm";
import { useCan } from "@/features/session/session";

const EDITORS = { rubric: RubricFields };

interface Props {
  schema: JsonSchema;
  definition: Spec;
  base: Spec;
  errors: FieldError[];
  samples: Pasted[];
  onChange: (next: Spec) => void;
}

export function DefinitionForm({ schema, definition, base, errors, samples, onChange }: Props) {
  const editor = useCan("editor");
  const first = samples[0] ?? FIRST;
  const preview = useMemo(
    () => ({ output_text: first.output_text, item: objectOf(first.item) ?? {} }),
    [first.output_text, first.item],
  );
  return (
    <PreviewContext.Provider value={preview}>
      <SchemaForm
        schema={schema}
        value={definition as Json}
        base={base as Json}
        errors={errors}
        pickers={PICKERS}
        editors={EDITORS}
        readOnly={!editor}
        onChange={next => onChange(next as Spec)}
      />
    </PreviewContext.Provider>
  );
}
