/** The prompt: a template of columns, or a chat in the file. */
import { Autocomplete, Group, SegmentedControl, Stack, Textarea, TextInput } from "@mantine/core";
import type { DatasetMapping } from "@/api/model";

interface Props {
  mapping: DatasetMapping;
  places: string[];
  onChange: (mapping: DatasetMapping) => void;
  /** The fault at a pointer within the mapping, such as `/prompt/template`. */
  fault: (pointer: string) => string | undefined;
}

export function PromptParts({ mapping, places, onChange, fault }: Props) {
  const { prompt } = mapping;
  const kind = prompt.kind === "chat" ? "file" : (prompt.form ?? "chat");
  const choose = (next: string) => {
    if (next === "file") {
      onChange({ ...mapping, prompt: { kind: "chat", path: places[0] ?? "", role: "role", content: "content" } });
      return;
    }
    const template = prompt.kind === "columns" ? prompt.template : `{${prompt.path}}`;
    const form = next === "text" ? "text" : "chat";
    onChange({
      ...mapping,
      system: form === "text" ? null : mapping.system,
      prompt: { kind: "columns", template, form },
    });
  };
  return (
    <Stack gap="xs">
      <SegmentedControl
        aria-label="Prompt type"
        data={[
          { value: "chat", label: "Chat message" },
          { value: "text", label: "Text to continue" },
          { value: "file", label: "Chat from the file" },
        ]}
        value={kind}
        onChange={choose}
      />
      {prompt.kind === "columns" ? (
        <Textarea
          label="Prompt"
          description="{question} inserts a column, {choices|letters} lettered options, {a.b} and {a[0]} nested values, {input?} an optional value, {{ a brace."
          autosize
          minRows={3}
          maxRows={12}
          value={prompt.template}
          error={fault("/prompt/template")}
          onChange={event => onChange({ ...mapping, prompt: { ...prompt, template: event.currentTarget.value } })}
        />
      ) : (
        <Group grow align="flex-start">
          <Autocomplete
            label="Chat from"
            data={places}
            limit={50}
            value={prompt.path}
            error={fault("/prompt/path")}
            onChange={path => onChange({ ...mapping, prompt: { ...prompt, path } })}
          />
          <TextInput
            label="Role key"
            value={prompt.role ?? "role"}
            error={fault("/prompt/role")}
            onChange={event => onChange({ ...mapping, prompt: { ...prompt, role: event.currentTarget.value } })}
          />
          <TextInput
            label="Content key"
            value={prompt.content ?? "content"}
            error={fault("/prompt/content")}
            onChange={event => onChange({ ...mapping, prompt: { ...prompt, content: event.currentTarget.value } })}
          />
        </Group>
      )}
      {kind !== "text" && (
        <Textarea
          label="System message"
          description="Also a template; empty for none."
          autosize
          minRows={1}
          maxRows={6}
          value={mapping.system ?? ""}
          error={fault("/system")}
          onChange={event => onChange({ ...mapping, system: event.currentTarget.value || null })}
        />
      )}
    </Stack>
  );
}
