/** Choices among the team's things for the `widget` hints of the spec; anything else may still be typed. */
import { Autocomplete } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { SharedDataset } from "@/api/model";
import { datasetsQuery, sharedDatasetsQuery } from "@/entities/datasets/queries";
import { policiesQuery } from "@/entities/policies/queries";
import { rewardsQuery } from "@/entities/rewards/queries";
import type { PickerProps } from "@/features/schema-form/context";
import { CodeEditor } from "@/ui/CodeEditor";
import { PolicyPreview, RewardPreview, SharedPreview, VersionPreview } from "./previews";

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
  const own = (data?.data ?? []).flatMap(dataset =>
    dataset.versions.filter(version => !version.deleted_at).map(version => ({ dataset, version })),
  );
  const lent = shared.data?.data ?? [];
  const choices = [
    ...own.map(({ dataset, version }) => ({
      value: version.ref,
      note: `${dataset.name}, ${version.rows.toLocaleString("en-GB")} rows`,
    })),
    ...lent.map(one => ({
      value: refOf(one),
      note: `${one.name} of the team ${one.shared_by}, ${one.rows.toLocaleString("en-GB")} rows`,
    })),
  ];
  const chosen = own.find(({ version }) => version.ref === props.value);
  const borrowed = lent.find(one => refOf(one) === props.value);
  return (
    <>
      <Choices {...props} choices={choices} placeholder="slug@version" />
      {chosen ? (
        <VersionPreview key={chosen.version.ref} {...chosen} />
      ) : (
        borrowed && <SharedPreview key={borrowed.id} shared={borrowed} />
      )}
    </>
  );
}

const refOf = (shared: SharedDataset) => `${shared.slug}@${shared.number}`;

export function RewardPicker(props: PickerProps) {
  const { data } = useQuery(rewardsQuery);
  const all = (data?.data ?? []).flatMap(reward => reward.versions.map(version => ({ reward, version })));
  const choices = all.map(({ reward, version }) => ({ value: version.ref, note: reward.name }));
  const chosen = all.find(({ version }) => version.ref === props.value);
  return (
    <>
      <Choices {...props} choices={choices} placeholder="slug@version" />
      {chosen && <RewardPreview key={chosen.version.ref} {...chosen} />}
    </>
  );
}

export function PolicyPicker(props: PickerProps) {
  const { data } = useQuery(policiesQuery);
  const choices = (data?.data ?? []).map(policy => ({ value: policy.slug, note: policy.name }));
  const chosen = data?.data.find(policy => policy.slug === props.value);
  return (
    <>
      <Choices {...props} choices={choices} placeholder="policy" />
      {chosen && <PolicyPreview policy={chosen} />}
    </>
  );
}

/** A program of the team's, which is no choice but wants an editor of its own as well. */
export function PythonField(props: PickerProps) {
  return <CodeEditor {...props} />;
}

export const PICKERS = { dataset: DatasetPicker, reward: RewardPicker, policy: PolicyPicker, python: PythonField };
