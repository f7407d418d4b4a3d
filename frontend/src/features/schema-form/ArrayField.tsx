/** A list: each member in a row of its own, with add, remove and order. */
import { ActionIcon, Button, Group, Text, Tooltip } from "@mantine/core";
import { IconArrowUp, IconPlus, IconX } from "@tabler/icons-react";
import type { Json } from "@/api/model";
import { humanize } from "@/lib/format";
import { newKey } from "@/lib/key";
import { useRowKeys } from "@/lib/useRowKeys";
import { useForm, type FieldProps } from "./context";
import { Field } from "./Field";
import { FieldLabel } from "./FieldLabel";
import classes from "./form.module.css";
import { ObjectFields } from "./ObjectFields";
import { faultText } from "./pointer";
import { initialValue, isObject, kindOf, resolve } from "./schema";
import { UnionField } from "./UnionField";

export function ArrayField(props: FieldProps) {
  const { schema, path, value, onChange } = props;
  const { root, errors, readOnly } = useForm();
  const list = Array.isArray(value) ? value : [];
  const item = resolve(schema.items ?? {}, root);
  const error = faultText(errors, path);
  const [keys, setKeys] = useRowKeys(list.length);
  const set = (next: Json[], nextKeys: string[]) => {
    setKeys(nextKeys);
    onChange(next);
  };
  const replace = (index: number, next: Json) => onChange(list.map((one, at) => (at === index ? next : one)));
  const noun = String(path.at(-1) ?? "item")
    .replace(/_/g, " ")
    .replace(/s$/, "");
  return (
    <div className={classes.array} data-pointer={path.join("/")}>
      <Group justify="space-between" mb={4}>
        <FieldLabel {...props} />
        {!readOnly && (schema.maxItems === undefined || list.length < schema.maxItems) && (
          <Button
            size="compact-xs"
            variant="subtle"
            leftSection={<IconPlus size={13} />}
            onClick={() => set([...list, initialValue(item, root)], [...keys, newKey()])}
          >
            Add {noun}
          </Button>
        )}
      </Group>
      {list.length === 0 && (
        <Text size="sm" c="dimmed">
          none
        </Text>
      )}
      {list.map((one, index) => (
        <div key={keys[index]} className={classes.member}>
          <div className={classes.memberBody}>
            <Member schema={item} path={[...path, index]} value={one} onChange={next => replace(index, next)} />
          </div>
          {!readOnly && (
            <div className={classes.memberTools}>
              {index > 0 && (
                <Tooltip label="Move up">
                  <ActionIcon
                    size="sm"
                    aria-label={`Move ${memberName(one, noun, index)} up`}
                    onClick={() => set(swap(list, index), swap(keys, index))}
                  >
                    <IconArrowUp size={14} />
                  </ActionIcon>
                </Tooltip>
              )}
              <Tooltip label="Remove">
                <ActionIcon
                  size="sm"
                  aria-label={`Remove ${memberName(one, noun, index)}`}
                  disabled={list.length <= (schema.minItems ?? 0)}
                  onClick={() => set(without(list, index), without(keys, index))}
                >
                  <IconX size={14} />
                </ActionIcon>
              </Tooltip>
            </div>
          )}
        </div>
      ))}
      {error && (
        <Text size="xs" c="var(--c-bad)" role="alert">
          {error}
        </Text>
      )}
    </div>
  );
}

function Member(props: FieldProps) {
  const kind = kindOf(props.schema);
  if (kind === "union") return <UnionField {...props} bare />;
  if (kind === "object") {
    const fixed = props.schema.properties?.type?.const !== undefined;
    return (
      <>
        {fixed && (
          <Text size="sm" fw={550} mb={4}>
            {props.schema.formula ? props.schema.title : humanize(String(props.schema.properties?.type?.const))}
          </Text>
        )}
        <ObjectFields {...props} skip={fixed ? ["type"] : undefined} />
      </>
    );
  }
  return <Field {...props} />;
}

function memberName(value: Json, noun: string, index: number): string {
  const name = isObject(value) ? (value.name ?? value.type) : null;
  return typeof name === "string" && name ? `${noun} ${name}` : `${noun} ${index + 1}`;
}

function swap<T>(list: T[], index: number): T[] {
  const next = [...list];
  [next[index - 1], next[index]] = [next[index] as T, next[index - 1] as T];
  return next;
}

function without<T>(list: T[], index: number): T[] {
  return list.filter((_, at) => at !== index);
}
