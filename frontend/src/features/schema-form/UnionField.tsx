/** A choice among methods, each with parameters of its own; what was typed for one is kept while another is tried. */
import { Input, Select, Text } from "@mantine/core";
import { useId, useRef } from "react";
import type { Json } from "@/api/model";
import { humanize } from "@/lib/format";
import { useForm, type FieldProps } from "./context";
import { clean, FieldLabel } from "./FieldLabel";
import classes from "./form.module.css";
import { ObjectFields } from "./ObjectFields";
import { faultText, getIn } from "./pointer";
import { discriminator, initialValue, isObject, type Variant, variantOf, variants } from "./schema";

interface Props extends FieldProps {
  /** Without a label of its own. */
  bare?: boolean;
  /** The method is chosen elsewhere: only its note and its fields are shown. */
  fixed?: boolean;
}

export function UnionField(props: Props) {
  const { schema, path, value, onChange, bare, fixed } = props;
  const { root, errors, readOnly, base, editors } = useForm();
  const id = useId();
  const kept = useRef<Record<string, Json>>({});
  const all = variants(schema, root);
  const chosen = variantOf(schema, root, value);
  const faults = [faultText(errors, path), faultText(errors, [...path, discriminator(schema)])].filter(Boolean);
  const Own = chosen ? editors[chosen.tag] : undefined;
  const choose = (tag: string | null) => {
    const next = all.find(one => one.tag === tag);
    if (!next || next.tag === chosen?.tag) return;
    if (chosen && value !== undefined) kept.current[chosen.tag] = value;
    const before = getIn(base, path);
    const fromBase = isObject(before) && before[discriminator(schema)] === tag ? before : undefined;
    onChange(kept.current[next.tag] ?? fromBase ?? initialValue(next.schema, root));
  };
  return (
    <div className={bare ? undefined : classes.union} data-pointer={path.join("/")}>
      <div className={fixed ? undefined : classes.unionHead}>
        {fixed ? (
          faults.length > 0 && <Input.Error role="alert">{faults.join(" ")}</Input.Error>
        ) : (
          <div className={classes.field}>
            {!bare && (
              <div className={classes.inputLabel}>
                <FieldLabel {...props} htmlFor={id} />
              </div>
            )}
            <Select
              id={id}
              aria-label={bare ? "Method" : undefined}
              data={all.map(one => ({ value: one.tag, label: variantLabel(one) }))}
              value={chosen?.tag ?? null}
              onChange={choose}
              allowDeselect={false}
              error={faults.join(" ") || undefined}
              disabled={readOnly}
            />
          </div>
        )}
        {chosen && <VariantNote variant={chosen} />}
      </div>
      {chosen && Own && <Own schema={chosen.schema} path={path} value={value} onChange={onChange} />}
      {chosen && !Own && (
        <ObjectFields
          schema={chosen.schema}
          path={path}
          value={value}
          onChange={onChange}
          skip={[discriminator(schema)]}
        />
      )}
    </div>
  );
}

/** Titles that pydantic takes from class names ("NoThinking") are replaced by the tag. */
export function variantLabel({ tag, schema }: Variant): string {
  const fromClass = /^[A-Z][a-z]+([A-Z][a-z]*)+$|^[A-Z][a-z]+Mode$/.test(schema.title ?? "") || !schema.formula;
  return fromClass ? humanize(tag) : (schema.title ?? humanize(tag));
}

function VariantNote({ variant }: { variant: Variant }) {
  const { description, formula, source } = variant.schema;
  if (!description && !formula) return null;
  return (
    <div className={classes.note}>
      {description && <Text size="xs">{clean(description)}</Text>}
      {formula && <div className={`mono ${classes.formula}`}>{formula}</div>}
      {source && (
        <Text size="xs" c="dimmed">
          {source}
        </Text>
      )}
    </div>
  );
}
