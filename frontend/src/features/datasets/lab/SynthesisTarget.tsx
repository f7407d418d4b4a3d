/** Choice of a synthesis: where its version goes. */
import { fieldError } from "@/api/problems";
import type { Dataset } from "@/api/model";
import { ResultTarget } from "@/features/pickers/ResultTarget";
import type { SynthesisFieldsProps } from "./SynthesisOptions";

export function SynthesisTarget({ dataset, value, onChange, error }: SynthesisFieldsProps & { dataset: Dataset }) {
  return (
    <ResultTarget
      dataset={dataset}
      description="All rows, followed by the variations"
      into={value.into}
      offered={`${dataset.name} with variations`}
      onChange={into => onChange({ ...value, into })}
      error={
        fieldError(error, "/slug") ?? fieldError(error, "/operation/into/name") ?? fieldError(error, "/operation/into")
      }
    />
  );
}
