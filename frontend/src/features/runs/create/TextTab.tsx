/** The spec as text, both ways: what can be read goes into the form, what cannot stays here with its error. */
import { Alert, Group, SegmentedControl, Textarea } from "@mantine/core";
import type { Spec } from "@/api/model";
import { CopyIcon } from "@/ui/CopyText";
import classes from "./create.module.css";
import { type Format, reread, type TextDraft, textFor, written } from "./textDraft";
import { FaultText } from "./UnreadText";

interface Props {
  spec: Spec;
  draft: TextDraft | null;
  onChange: (draft: TextDraft) => void;
  errors: { pointer: string; detail: string }[];
}

export function TextTab({ spec, draft, onChange, errors }: Props) {
  const shown = textFor(spec, draft);
  const { fault } = shown;
  const convert = (format: Format) =>
    // A text that cannot be read is not discarded: perhaps it is of the other format.
    onChange(fault === null ? written(spec, format) : reread(shown, { format }));
  return (
    <div>
      <Group justify="space-between" mb="xs">
        <SegmentedControl
          size="xs"
          data={[
            { value: "yaml", label: "YAML" },
            { value: "json", label: "JSON" },
          ]}
          value={shown.format}
          onChange={next => convert(next as Format)}
          aria-label="Format"
        />
        <CopyIcon value={shown.text} label="Copy the spec" />
      </Group>
      {fault && (
        <Alert color="red" p="xs" mb="xs" role="alert">
          <FaultText>{fault}</FaultText>
        </Alert>
      )}
      {!fault && errors.length > 0 && (
        <Alert color="red" p="xs" mb="xs" role="alert">
          {errors.map(error => (
            <div key={error.pointer + error.detail} style={{ fontSize: 12.5 }}>
              <span className="mono">{error.pointer.slice(1).replaceAll("/", ".")}</span>: {error.detail}
            </div>
          ))}
        </Alert>
      )}
      <Textarea
        className={classes.editor}
        aria-label="Spec"
        autosize
        minRows={24}
        spellCheck={false}
        aria-invalid={fault !== null}
        value={shown.text}
        onChange={event => onChange(reread(shown, { text: event.currentTarget.value }))}
      />
    </div>
  );
}
