/** Choices among the team's things for the `widget` hints of the spec; anything else may still be typed. */
import { Autocomplete } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { datasetsQuery, sharedDatasetsQuery } from "@/features/datasets/data/queries";
import { policiesQuery } from "@/features/policies/data/queries";
import { rewardsQuery } from "@/features/rewards/data/queries";
import type { PickerProps } from "@/features/schema-form/context";
import { CodeEditor } from "@/ui/CodeEditor";

interface Choice {
  value: string;
  note: string;
}

function Choices({
  id,
  value,
  onChange,
  error,
  choices,
  placeholder,
}: PickerProps & { choices: Choice[]; placeholder: string }) {
  const notes = new Map(choices.map(choice => [choice.value, choice.note]));
  return (
    <Autocomplete
      id={id}
      data={choices.map(choice => choice.value)}
      value={value}
      onChange={onChange}
      error={error}
      placeholder={placeholder}
      renderOption={({ option }) => (
        <span>
          <span className="mono">{option.value}</span>
          <span style={{ color: "var(--c-text-3)", fontSize: 12, marginLeft: 8 }}>{notes.get(option.value)}</span>
        </span>
      )}
      filter={({ options, search }) =>
        // A complete choice shows all others too, so that it can be changed with one click.
        notes.has(search)
          ? options
          : options.filter(option => "value" in option && String(option.value).includes(search))
      }
      comboboxProps={{ width: "max-content", position: "bottom-start" }}
    />
  );
}

export function DatasetPicker(props: PickerProps) {
  const { data } = useQuery(datasetsQuery);
  const shared = useQuery(sharedDatasetsQuery);
  const choices = (data?.data ?? []).flatMap(dataset =>
    dataset.versions
      .filter(version => !version.deleted_at)
      .map(version => ({
        value: version.ref,
        note: `${dataset.name}, ${version.rows.toLocaleString("en-GB")} rows`,
      })),
  );
  const lent = (shared.data?.data ?? []).map(one => ({
    value: `${one.slug}@${one.number}`,
    note: `${one.name} of the team ${one.shared_by}, ${one.rows.toLocaleString("en-GB")} rows`,
  }));
  return <Choices {...props} choices={[...choices, ...lent]} placeholder="slug@version" />;
}

export function RewardPicker(props: PickerProps) {
  const { data } = useQuery(rewardsQuery);
  const choices = (data?.data ?? []).flatMap(reward =>
    reward.versions.map(version => ({
      value: version.ref,
      note: reward.name,
    })),
  );
  return <Choices {...props} choices={choices} placeholder="slug@version" />;
}

export function PolicyPicker(props: PickerProps) {
  const { data } = useQuery(policiesQuery);
  const choices = (data?.data ?? []).map(policy => ({ value: policy.slug, note: policy.name }));
  return <Choices {...props} choices={choices} placeholder="policy" />;
}

/** A program of the team's, which is no choice but wants an editor of its own as well. */
export function PythonField(props: PickerProps) {
  return <CodeEditor {...props} />;
}

export const PICKERS = { dataset: DatasetPicker, reward: RewardPicker, policy: PolicyPicker, python: PythonField };
