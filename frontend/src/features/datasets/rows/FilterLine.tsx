/** Words to look for, and conditions on rows. All of them live in the address. */
import { Button, Group, NumberInput, Popover, Select, Stack, TagsInput, Text, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconFilter, IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { RowNotes, RowValues } from "@/api/model";
import { rowValuesQuery } from "@/entities/datasets/queries";
import { counted, offered } from "./offered";
import { NO_FILTERS, noteValue, numberFault, type RowFilters, SCRIPTS, tagList, tagsFault, withNote } from "./query";

const LENGTH = { min: 0, max: 2 ** 31 - 1, allowDecimal: false, allowNegative: false };
const PAUSE_MS = 300;

interface Props {
  datasetId: string;
  version: number;
  filters: RowFilters;
  notes: readonly RowNotes[];
  onChange: (change: Partial<RowFilters>) => void;
}

export function FilterLine({ datasetId, version, filters, notes, onChange }: Props) {
  const [words, setWords] = useState(filters.q ?? "");
  const [sent, setSent] = useState(filters.q);
  const [before, setBefore] = useState(filters.q);
  if (filters.q !== before) {
    setBefore(filters.q);
    // The address was changed by another than this line, such as by a step back.
    if (filters.q !== sent) setWords(filters.q ?? "");
    setSent(filters.q);
  }
  const search = useDebouncedCallback((text: string) => {
    const q = text.trim() || undefined;
    setSent(q);
    onChange({ q });
  }, PAUSE_MS);
  const set = Object.values(filters).filter(value => value !== undefined).length - (filters.q === undefined ? 0 : 1);
  return (
    <Group gap="xs" wrap="wrap">
      <TextInput
        aria-label="Words in the prompt or the chat"
        placeholder='Words, or "a phrase"'
        leftSection={<IconSearch size={15} />}
        value={words}
        maxLength={500}
        style={{ flex: "1 1 220px" }}
        onChange={event => {
          setWords(event.currentTarget.value);
          search(event.currentTarget.value);
        }}
      />
      <Popover position="bottom-end" trapFocus withinPortal shadow="md" width={320}>
        <Popover.Target>
          <Button variant="default" leftSection={<IconFilter size={15} />}>
            {set > 0 ? `Filters (${set})` : "Filters"}
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          <Conditions {...{ datasetId, version, filters, notes, onChange }} />
        </Popover.Dropdown>
      </Popover>
      {(set > 0 || filters.q !== undefined) && (
        <Button
          variant="subtle"
          onClick={() => {
            setWords("");
            onChange(NO_FILTERS);
          }}
        >
          Clear
        </Button>
      )}
    </Group>
  );
}

function Conditions({ datasetId, version, filters, notes, onChange }: Props) {
  // Without them everything can still be written by hand, so that a fault of theirs is one line.
  const values = useQuery(rowValuesQuery(datasetId, version));
  const bound = (value: string | number) => (value === "" ? undefined : Number(value));
  return (
    <Stack gap="xs">
      <Lazy
        label="Answer"
        description="Exact match."
        value={filters.answer ?? ""}
        onSettle={value => onChange({ answer: value || undefined })}
      />
      <Columns tags={filters.tags} values={values.data} onChange={tags => onChange({ tags })} />
      <Select
        label="Script"
        description="Of most letters in the prompt."
        placeholder="any"
        data={scripts(filters.script, values.data)}
        value={filters.script ?? null}
        onChange={next => onChange({ script: next ?? undefined })}
        comboboxProps={{ withinPortal: false }}
        clearable
      />
      {values.isError && (
        <Text size="xs" c="dimmed">
          Values to choose from could not be loaded: {values.error.message} Enter them by hand.
        </Text>
      )}
      <Group grow>
        <NumberInput
          {...LENGTH}
          label="Minimum length"
          value={filters.min ?? ""}
          onChange={value => onChange({ min: bound(value) })}
        />
        <NumberInput
          {...LENGTH}
          label="Maximum length"
          value={filters.max ?? ""}
          onChange={value => onChange({ max: bound(value) })}
        />
      </Group>
      {notes.flatMap(({ name, columns }) =>
        columns.map(column => (
          <NoteFilter
            key={`${name}.${column.name}`}
            name={`${name}.${column.name}`}
            type={column.type}
            values={values.data?.notes.find(one => one.name === `${name}.${column.name}`)?.values}
            value={noteValue(filters.notes, `${name}.${column.name}`)}
            onSettle={value => onChange({ notes: withNote(filters.notes, `${name}.${column.name}`, value) })}
          />
        )),
      )}
    </Stack>
  );
}

function scripts(chosen: string | undefined, values: RowValues | undefined) {
  const rows = new Map(values?.scripts.map(one => [one.value, one.rows]));
  const shown = SCRIPTS.filter(one => !values || rows.has(one) || one === chosen || values.of === "sample");
  return shown.map(value => {
    const name = value === "none" ? "no letters" : value;
    return { value, label: rows.has(value) && values?.of === "all" ? counted(name, rows.get(value) ?? 0) : name };
  });
}

interface ColumnsProps {
  tags: string | undefined;
  values: RowValues | undefined;
  onChange: (tags: string | undefined) => void;
}

/** Conditions on columns, chosen from those of a sample or written. What cannot be read is not taken. */
function Columns({ tags, values, onChange }: ColumnsProps) {
  const [draft, setDraft] = useState("");
  const [error, setError] = useState<string | null>(null);
  const settle = (next: string[]) => {
    const found = tagsFault(next.join(","));
    setError(found);
    if (found === null) onChange(next.join(",") || undefined);
  };
  return (
    <TagsInput
      label="Columns"
      description="For example level=3: exact match."
      placeholder={tags ? undefined : "column=value"}
      data={offered(values)}
      value={tagList(tags)}
      searchValue={draft}
      onSearchChange={text => {
        setDraft(text);
        setError(null);
      }}
      onChange={settle}
      error={error}
      maxTags={10}
      acceptValueOnBlur
      clearable
      limit={100}
      comboboxProps={{ withinPortal: false }}
    />
  );
}

interface NoteFilterProps {
  name: string;
  type: string;
  /** Values that notes have, where they are few. */
  values?: RowValues["notes"][number]["values"];
  value: string;
  onSettle: (value: string) => void;
}

function NoteFilter({ name, type, values, value, onSettle }: NoteFilterProps) {
  const label = name.replace(".", ": ").replaceAll("_", " ");
  if (type === "boolean")
    return (
      <Select
        label={label}
        clearable
        data={[
          { value: "true", label: "Yes" },
          { value: "false", label: "No" },
        ]}
        value={value || null}
        onChange={next => onSettle(next ?? "")}
        comboboxProps={{ withinPortal: false }}
      />
    );
  if (values && (value === "" || values.some(one => one.value === value)))
    return (
      <Select
        label={label}
        clearable
        searchable
        data={values.map(one => ({ value: one.value, label: counted(one.value, one.rows) }))}
        value={value || null}
        onChange={next => onSettle(next ?? "")}
        comboboxProps={{ withinPortal: false }}
      />
    );
  const description = type === "string" ? "Exact match." : "A number, or a range such as 0.2..0.8.";
  const fault = type === "string" ? undefined : numberFault;
  return <Lazy label={label} description={description} value={value} fault={fault} onSettle={onSettle} />;
}

interface LazyProps {
  label: string;
  description: string;
  value: string;
  /** Why a text cannot be read; null if it can. */
  fault?: (text: string) => string | null;
  onSettle: (value: string) => void;
}

/** A text that counts once it is left, or at Enter, where it can be read. */
function Lazy({ label, description, value, fault, onSettle }: LazyProps) {
  const [draft, setDraft] = useState(value);
  const [error, setError] = useState(fault?.(value) ?? null);
  const settle = () => {
    const found = fault?.(draft) ?? null;
    setError(found);
    if (found === null && draft.trim() !== value) onSettle(draft.trim());
  };
  return (
    <TextInput
      label={label}
      description={description}
      value={draft}
      error={error}
      maxLength={500}
      onChange={event => {
        setDraft(event.currentTarget.value);
        setError(null);
      }}
      onBlur={settle}
      onKeyDown={event => {
        if (event.key === "Enter") settle();
      }}
    />
  );
}
