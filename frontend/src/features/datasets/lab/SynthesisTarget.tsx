/** Choice of a synthesis: where its version goes. */
import { Group, Select, TextInput } from "@mantine/core";
import { fieldError } from "@/api/problems";
import type { Dataset } from "@/api/model";
import type { SynthesisFieldsProps } from "./SynthesisOptions";

export function SynthesisTarget({ dataset, value, onChange, error }: SynthesisFieldsProps & { dataset: Dataset }) {
  const { into } = value;
  return (
    <Group gap="sm" align="flex-start">
      <Select
        label="Result"
        description="All rows, and the variations behind them"
        data={[
          { value: "next", label: `Next version of ${dataset.slug}` },
          { value: "new", label: "A new dataset" },
        ]}
        allowDeselect={false}
        w={300}
        value={into === null ? "next" : "new"}
        onChange={chosen => onChange({ ...value, into: chosen === "new" ? `${dataset.name} with variations` : null })}
      />
      {into !== null && (
        <TextInput
          label="Name of the new dataset"
          description="Its slug is made of it"
          maxLength={120}
          w={300}
          value={into}
          onChange={event => onChange({ ...value, into: event.currentTarget.value })}
          error={into.trim() === "" ? "Name the new dataset." : refusal(error)}
        />
      )}
    </Group>
  );
}

const refusal = (error: unknown) =>
  fieldError(error, "/slug") ?? fieldError(error, "/operation/into/name") ?? fieldError(error, "/operation/into");
