/** The properties of an object in a grid; nested objects, unions and lists take the whole width. */
import { isLong, isObject, kindOf, resolve } from "./schema";
import { useForm, type FieldProps } from "./context";
import { Field } from "./Field";
import classes from "./form.module.css";

const WIDE = ["object", "union", "array", "json"];

export function ObjectFields({ schema, path, value, onChange, skip }: FieldProps & { skip?: string[] }) {
  const { root } = useForm();
  const object = isObject(value) ? value : {};
  const names = Object.keys(schema.properties ?? {}).filter(
    // A fixed `type` says nothing that can be chosen.
    name => !skip?.includes(name) && !(name === "type" && schema.properties?.[name]?.const !== undefined),
  );
  if (names.length === 0) return null;
  return (
    <div className={classes.grid}>
      {names.map(name => {
        const property = resolve(schema.properties?.[name] ?? {}, root);
        const kind = kindOf(property);
        const inner =
          kind === "optional" ? property.anyOf?.some(one => one.$ref) : WIDE.includes(kind) || isLong(property);
        return (
          <div key={name} className={inner ? classes.wide : undefined}>
            <Field
              schema={property}
              path={[...path, name]}
              value={object[name]}
              onChange={next => onChange({ ...object, [name]: next })}
            />
          </div>
        );
      })}
    </div>
  );
}
