/** A value that may be absent: a switch, and the input when it is on. */
import { Group, Switch, Text } from "@mantine/core";
import { useId, useRef, useState } from "react";
import type { Json } from "@/api/model";
import { useForm, type FieldProps } from "./context";
import { BareInput } from "./Field";
import { fieldName, FieldLabel } from "./FieldLabel";
import classes from "./form.module.css";
import { ObjectFields } from "./ObjectFields";
import { faultText } from "./pointer";
import { initialValue, kindOf, present } from "./schema";

export function OptionalField(props: FieldProps) {
  const { schema, path, value, onChange } = props;
  const { root, errors, readOnly } = useForm();
  const id = useId();
  const inner = present(schema, root);
  const kept = useRef<Json | undefined>(undefined);
  // A number that is being retyped is empty for a moment: its input must stay.
  const [open, setOpen] = useState(false);
  const on = open || (value !== null && value !== undefined);
  const error = faultText(errors, path);
  const toggle = (next: boolean) => {
    if (!next && value !== null) kept.current = value;
    setOpen(next);
    onChange(next ? (kept.current ?? start(initialValue(inner, root))) : null);
  };
  const isObjectField = kindOf(inner) === "object";
  return (
    <div className={isObjectField ? classes.union : classes.field} data-pointer={path.join("/")}>
      <Group gap={8} justify="space-between" wrap="nowrap" className={classes.inputLabel}>
        <FieldLabel {...props} htmlFor={on && !isObjectField ? id : undefined} />
        <Switch
          size="xs"
          checked={on}
          onChange={event => toggle(event.currentTarget.checked)}
          aria-label={`Set ${fieldName(path)}`}
          disabled={readOnly}
        />
      </Group>
      {on && isObjectField && <ObjectFields {...props} schema={inner} />}
      {on && isObjectField && error && (
        <Text size="xs" c="var(--c-bad)" role="alert">
          {error}
        </Text>
      )}
      {on && !isObjectField && <BareInput {...props} schema={inner} id={id} error={error} />}
      {!on && (
        <Text size="sm" c="dimmed" className={classes.absent}>
          {error ?? "not set"}
        </Text>
      )}
    </div>
  );
}

/** An optional number that is switched on starts at a number, so that the form stays complete. */
function start(value: Json): Json {
  return value === null ? 0 : value;
}
