import { createContext, type ComponentType, useContext } from "react";
import type { Json, JsonSchema } from "@/api/model";
import type { Path } from "./pointer";

/** An input for a `widget` hint, such as a choice among the team's datasets. */
export interface PickerProps {
  id: string;
  value: string;
  onChange: (value: string) => void;
  error?: string;
  label: string;
}

export interface FormContext {
  root: JsonSchema;
  /** What the form started from; fields that differ are marked and can be put back. */
  base: Json;
  errors: { pointer: string; detail: string }[];
  pickers: Record<string, ComponentType<PickerProps>>;
  /** Editors of their own for some members of unions, by tag, in place of the plain fields. */
  editors: Record<string, ComponentType<FieldProps>>;
  readOnly: boolean;
}

export const SchemaFormContext = createContext<FormContext | null>(null);

export function useForm(): FormContext {
  const context = useContext(SchemaFormContext);
  if (!context) throw new Error("A field of a schema form was used outside of one.");
  return context;
}

export interface FieldProps {
  schema: JsonSchema;
  path: Path;
  value: Json | undefined;
  onChange: (value: Json) => void;
}
