/** Filters of groups; they live in the address. */
import { Button, NumberInput, Pill, Select, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import type { Spec } from "@/api/model";
import { ONLY_GROUPS, type OnlyGroups, type RunSearch } from "@/entities/runs/search";
import { getIn } from "@/features/schema-form/pointer";

const NO_FILTER = {
  step: undefined,
  first: undefined,
  last: undefined,
  source: undefined,
  prompt: undefined,
  min: undefined,
  max: undefined,
  q: undefined,
  only: undefined,
  group: undefined,
};
const CLEAR = { "aria-label": "Show all prompts", tabIndex: 0 };
const ONLY: Record<OnlyGroups, string> = {
  alive: "Rewards differ",
  dead: "Groups without signal",
  cut: "With a truncated sample",
  error: "With a reward error",
};

interface Props {
  search: RunSearch;
  spec: Spec | undefined;
  onChange: (change: Partial<RunSearch>) => void;
}

export function GroupFilters({ search, spec, onChange }: Props) {
  const { step, source, prompt, min, max, q, only, first, last } = search;
  const filtered = [step, source, prompt, min, max, q, only, first, last].some(one => one !== undefined);
  const numeric = (name: "step" | "min" | "max") => (value: string | number) =>
    onChange({ [name]: typeof value === "number" ? value : undefined });
  return (
    <>
      <SearchText key={q ?? ""} text={q ?? ""} onChange={text => onChange({ q: text || undefined })} />
      <NumberInput
        size="xs"
        w={100}
        aria-label="Step"
        placeholder="Any step"
        min={0}
        value={step ?? ""}
        onChange={numeric("step")}
      />
      <Select
        size="xs"
        w={140}
        aria-label="Source"
        placeholder="Any source"
        data={sources(spec)}
        value={source ?? null}
        onChange={value => onChange({ source: value ?? undefined })}
        clearable
      />
      <NumberInput
        size="xs"
        w={108}
        aria-label="Minimum reward"
        placeholder="Reward from"
        prefix="≥ "
        step={0.1}
        decimalScale={3}
        value={min ?? ""}
        onChange={numeric("min")}
      />
      <NumberInput
        size="xs"
        w={108}
        aria-label="Maximum reward"
        placeholder="Reward to"
        prefix="≤ "
        step={0.1}
        decimalScale={3}
        value={max ?? ""}
        onChange={numeric("max")}
      />
      <Select
        size="xs"
        w={158}
        aria-label="Groups"
        placeholder="All groups"
        data={ONLY_GROUPS.map(value => ({ value, label: ONLY[value] }))}
        value={only ?? null}
        onChange={value => onChange({ only: (value ?? undefined) as OnlyGroups | undefined })}
        clearable
      />
      {(first !== undefined || last !== undefined) && (
        <Pill
          withRemoveButton
          onRemove={() => onChange({ first: undefined, last: undefined })}
          removeButtonProps={{ "aria-label": "Show all steps", tabIndex: 0 }}
        >
          steps {first ?? 0} to {last ?? "the newest"}
        </Pill>
      )}
      {prompt !== undefined && (
        <Pill withRemoveButton onRemove={() => onChange({ prompt: undefined })} removeButtonProps={CLEAR}>
          prompt {prompt}
        </Pill>
      )}
      {filtered && (
        <Button size="compact-xs" variant="subtle" onClick={() => onChange(NO_FILTER)}>
          Clear
        </Button>
      )}
    </>
  );
}

/** Searches once the typing rests: each search reads all kept texts. */
function SearchText({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const [typed, setTyped] = useState(text);
  const later = useDebouncedCallback(onChange, 400);
  return (
    <TextInput
      size="xs"
      w={210}
      aria-label="Search prompts and completions"
      placeholder="Search all stored text"
      leftSection={<IconSearch size={14} />}
      maxLength={200}
      value={typed}
      onChange={event => {
        setTyped(event.currentTarget.value);
        later(event.currentTarget.value.trim());
      }}
    />
  );
}

function sources(spec: Spec | undefined): string[] {
  const found = getIn(spec, ["data", "sources"]);
  return Array.isArray(found) ? found.map((_, index) => String(getIn(found, [index, "name"]))) : [];
}
