import { Combobox, Text, TextInput, useCombobox } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useMemo, useState } from "react";
import type { Json, JsonSchema, Spec } from "@/api/model";
import { fieldIndex, findFields, type FoundField } from "@/features/schema-form/fieldIndex";

interface Props {
  schema: JsonSchema;
  value: Spec;
  onChoose: (field: FoundField) => void;
}

const SHOWN = 8;

/** Finds a field of the form by its name, its meaning or its choices. */
export function FieldSearch({ schema, value, onChoose }: Props) {
  const [text, setText] = useState("");
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() });
  const fields = useMemo(() => fieldIndex(schema, value as Json), [schema, value]);
  const found = findFields(fields, text);
  const choose = (path: string) => {
    const field = found.find(one => one.path.join("/") === path);
    combobox.closeDropdown();
    setText("");
    if (field) onChoose(field);
  };
  return (
    <Combobox store={combobox} onOptionSubmit={choose}>
      <Combobox.Target>
        <TextInput
          size="xs"
          w={{ base: "100%", xs: 320 }}
          aria-label="Find a field"
          placeholder={`Find one of ${fields.length} fields`}
          leftSection={<IconSearch size={14} />}
          value={text}
          onChange={event => {
            setText(event.currentTarget.value);
            combobox.openDropdown();
            combobox.updateSelectedOptionIndex();
          }}
          onFocus={() => combobox.openDropdown()}
          onBlur={() => combobox.closeDropdown()}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={text.trim() === ""}>
        <Combobox.Options aria-label="Fields">
          {found.slice(0, SHOWN).map(field => (
            <Combobox.Option key={field.path.join("/")} value={field.path.join("/")}>
              <Text size="sm">{field.label}</Text>
              <Text size="xs" c="dimmed" className="mono">
                {field.path.join(".")}
              </Text>
            </Combobox.Option>
          ))}
          {found.length === 0 && <Combobox.Empty>No matching fields.</Combobox.Empty>}
          {found.length > SHOWN && (
            <Combobox.Footer>
              <Text size="xs" c="dimmed">
                and {found.length - SHOWN} more
              </Text>
            </Combobox.Footer>
          )}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}
