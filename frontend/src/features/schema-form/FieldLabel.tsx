/** Label of a field, with its tools next to (not in) it: name, what it means, whether it may be steered, and a way back to the preset. */
import { ActionIcon, Group, Stack, Text, Tooltip } from "@mantine/core";
import { IconArrowBackUp, IconInfoCircle, IconSteeringWheel } from "@tabler/icons-react";
import type { JsonSchema } from "@/api/model";
import { formatValue, humanize } from "@/lib/format";
import { boundsText } from "./bounds";
import { useForm, type FieldProps } from "./context";
import { getIn, same } from "./pointer";
import classes from "./form.module.css";

export function fieldName(path: FieldProps["path"]): string {
  const last = path.at(-1);
  return typeof last === "number" ? `Item ${last + 1}` : humanize(String(last ?? ""));
}

export function FieldLabel({ schema, path, value, onChange, htmlFor }: FieldProps & { htmlFor?: string }) {
  const { base, readOnly } = useForm();
  const before = getIn(base, path);
  const changed = before !== undefined && !same(before, value);
  return (
    <Group gap={4} wrap="nowrap" component="span" className={classes.label}>
      {changed && <span className={classes.changed} title="Changed from the preset" />}
      {htmlFor ? <label htmlFor={htmlFor}>{fieldName(path)}</label> : <span>{fieldName(path)}</span>}
      <Explanation schema={schema} />
      {schema.steer && (
        <Tooltip label="Can be changed while the run is active">
          <IconSteeringWheel size={13} className={classes.hint} aria-label="Can be changed while the run is active" />
        </Tooltip>
      )}
      {changed && !readOnly && (
        <Tooltip label={`Reset to ${formatValue(before)}`}>
          <ActionIcon
            size={18}
            aria-label={`Reset ${fieldName(path)} to ${formatValue(before)}`}
            onClick={() => onChange(before)}
          >
            <IconArrowBackUp size={13} />
          </ActionIcon>
        </Tooltip>
      )}
    </Group>
  );
}

/** Description, formula and source; opens on hover and on keyboard focus. */
export function Explanation({ schema }: { schema: JsonSchema }) {
  if (!schema.description && !schema.formula) return null;
  const bounds = boundsText(schema);
  return (
    <Tooltip
      label={
        <Stack gap={4}>
          {schema.description && <span style={{ whiteSpace: "pre-line" }}>{clean(schema.description)}</span>}
          {schema.formula && <span className="mono">{schema.formula}</span>}
          {schema.source && (
            <Text size="xs" inherit opacity={0.8}>
              {schema.source}
            </Text>
          )}
          {bounds && <span className="num">{bounds}</span>}
        </Stack>
      }
      events={{ hover: true, focus: true, touch: true }}
    >
      <span
        className={classes.info}
        tabIndex={0}
        role="note"
        aria-label={clean(schema.description ?? schema.formula ?? "")}
      >
        <IconInfoCircle size={13} aria-hidden="true" />
      </span>
    </Tooltip>
  );
}

export function clean(text: string): string {
  return text.replaceAll("``", "").replace(/([^\n])\n(?!\n)/g, "$1 ");
}
