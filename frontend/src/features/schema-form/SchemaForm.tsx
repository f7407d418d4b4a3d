/** A form drawn from a JSON Schema. The value is plain JSON, owned by the caller; faults are shown at their pointers. */
import { type ComponentType, useMemo } from "react";
import type { Json, JsonSchema } from "@/api/model";
import { type FieldProps, type PickerProps, SchemaFormContext } from "./context";
import { ObjectFields } from "./ObjectFields";

interface Props {
  schema: JsonSchema;
  value: Json;
  onChange: (value: Json) => void;
  base?: Json;
  errors?: { pointer: string; detail: string }[];
  pickers?: Record<string, ComponentType<PickerProps>>;
  editors?: Record<string, ComponentType<FieldProps>>;
  readOnly?: boolean;
  children?: React.ReactNode;
}

const NO_ERRORS: { pointer: string; detail: string }[] = [];
const NOTHING = {};

/** Without children, draws all properties; with children, only gives them the form's context. */
export function SchemaForm({ schema, value, onChange, children, ...rest }: Props) {
  const { base = null, errors = NO_ERRORS, pickers = NOTHING, editors = NOTHING, readOnly = false } = rest;
  const context = useMemo(
    () => ({ root: schema, base, errors, pickers, editors, readOnly }),
    [schema, base, errors, pickers, editors, readOnly],
  );
  return (
    <SchemaFormContext.Provider value={context}>
      {children ?? <ObjectFields schema={schema} path={[]} value={value} onChange={onChange} />}
    </SchemaFormContext.Provider>
  );
}
