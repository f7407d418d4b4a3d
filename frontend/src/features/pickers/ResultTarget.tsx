/** Choice of where the rows of an operation go: the dataset's next version, or a new dataset. */
import { Group, Select, TextInput } from "@mantine/core";
import type { Dataset } from "@/api/model";

interface Props {
  dataset: Dataset;
  description: string;
  /** Name of the new dataset; null: the next version. */
  into: string | null;
  /** Name that a new dataset is offered. */
  offered: string;
  onChange: (into: string | null) => void;
  error: string | undefined;
}

export function ResultTarget({ dataset, description, into, offered, onChange, error }: Props) {
  return (
    <Group gap="sm" align="flex-start">
      <Select
        label="Result"
        description={description}
        data={[
          { value: "next", label: `Next version of ${dataset.slug}` },
          { value: "new", label: "A new dataset" },
        ]}
        allowDeselect={false}
        w={300}
        value={into === null ? "next" : "new"}
        onChange={chosen => onChange(chosen === "new" ? offered : null)}
      />
      {into !== null && (
        <TextInput
          label="Name of the new dataset"
          description="Its slug is derived from it"
          maxLength={120}
          w={300}
          value={into}
          onChange={event => onChange(event.currentTarget.value)}
          error={into.trim() === "" ? "Enter a name." : error}
        />
      )}
    </Group>
  );
}
