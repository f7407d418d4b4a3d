/** One field of a schema form: chooses the input by the kind of the schema. */
import { Select, Switch, Textarea, TextInput } from "@mantine/core";
import { useId } from "react";
import { MONO } from "@/ui/styles";
import { ArrayField } from "./ArrayField";
import { useForm, type FieldProps } from "./context";
import { fieldName, FieldLabel } from "./FieldLabel";
import classes from "./form.module.css";
import { JsonField } from "./JsonField";
import { NumberField } from "./NumberField";
import { ObjectFields } from "./ObjectFields";
import { OptionalField } from "./OptionalField";
import { faultText } from "./pointer";
import { isLong, kindOf, resolve } from "./schema";
import { UnionField } from "./UnionField";

export function Field(props: FieldProps) {
  const { root } = useForm();
  const schema = resolve(props.schema, root);
  const resolved = { ...props, schema };
  switch (kindOf(schema)) {
    case "object":
      return (
        <fieldset className={classes.nested}>
          <legend>
            <FieldLabel {...resolved} />
          </legend>
          <ObjectFields {...resolved} />
        </fieldset>
      );
    case "union":
      return <UnionField {...resolved} />;
    case "optional":
      return <OptionalField {...resolved} />;
    case "array":
      return <ArrayField {...resolved} />;
    default:
      return <Labelled {...resolved} />;
  }
}

/** A simple input with its label and its faults. */
function Labelled(props: FieldProps) {
  const { errors } = useForm();
  const id = useId();
  const error = faultText(errors, props.path, kindOf(props.schema) === "json");
  return (
    <div className={classes.field} data-pointer={props.path.join("/")}>
      <div className={classes.inputLabel}>
        <FieldLabel {...props} htmlFor={id} />
      </div>
      <BareInput {...props} id={id} error={error} />
    </div>
  );
}

/** The input alone; a label with `htmlFor` equal to `id` belongs to it. */
export function BareInput({ schema, path, value, onChange, id, error }: FieldProps & { id: string; error?: string }) {
  const { pickers, readOnly } = useForm();
  const Picker = schema.widget ? pickers[schema.widget] : undefined;
  if (Picker && kindOf(schema) === "string" && !readOnly) {
    return <Picker id={id} value={String(value ?? "")} onChange={onChange} error={error} label={fieldName(path)} />;
  }
  switch (kindOf(schema)) {
    case "boolean":
      return (
        <Switch
          id={id}
          checked={value === true}
          onChange={event => onChange(event.currentTarget.checked)}
          error={error}
          disabled={readOnly}
          className={classes.switch}
        />
      );
    case "enum":
      return (
        <Select
          id={id}
          data={(schema.enum ?? []).map(one => ({ value: JSON.stringify(one), label: String(one) }))}
          value={JSON.stringify(value ?? null)}
          onChange={chosen => chosen !== null && onChange(JSON.parse(chosen))}
          allowDeselect={false}
          error={error}
          disabled={readOnly}
        />
      );
    case "integer":
    case "number":
      return (
        <NumberField id={id} value={value} onChange={onChange} unit={schema.unit} error={error} disabled={readOnly} />
      );
    case "const":
      return <TextInput id={id} value={String(schema.const)} readOnly disabled error={error} />;
    case "string":
      return isLong(schema) ? (
        <Textarea
          id={id}
          autosize
          minRows={3}
          maxRows={24}
          styles={MONO}
          value={String(value ?? "")}
          onChange={event => onChange(event.currentTarget.value)}
          error={error}
          disabled={readOnly}
          spellCheck={false}
        />
      ) : (
        <TextInput
          id={id}
          value={String(value ?? "")}
          onChange={event => onChange(event.currentTarget.value)}
          error={error}
          disabled={readOnly}
        />
      );
    default:
      return <JsonField id={id} value={value} onChange={onChange} error={error} disabled={readOnly} />;
  }
}
