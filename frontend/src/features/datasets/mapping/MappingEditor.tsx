/** The editor that maps a file's columns. */
import { Alert, Button, Group, Stack, Switch, Text, TextInput, Title } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import * as api from "@/api/client";
import { errorText } from "@/api/http";
import type { DatasetMapping, DatasetPreview } from "@/api/model";
import { fieldError } from "@/api/problems";
import { useSubmit } from "@/lib/useSubmit";
import { toast } from "@/ui/toast";
import { AnswerRule } from "./AnswerRule";
import { ColumnParts } from "./ColumnParts";
import { PromptParts } from "./PromptParts";
import { isComplete, placesOf, readingJson } from "./draft";

interface Props {
  preview: DatasetPreview;
  mapping: DatasetMapping;
  onChange: (mapping: DatasetMapping) => void;
  /** What the platform says of the mapping, where it refuses it. */
  error: unknown;
}

export function MappingEditor({ preview, mapping, onChange, error }: Props) {
  const { columns } = preview;
  const change = (next: DatasetMapping) => onChange(readingJson(next, columns));
  const fault = (pointer: string) => fieldError(error, `/mapping${pointer}`);
  const places = placesOf(columns);
  return (
    <Stack gap="sm" component="section" aria-label="Mapping" data-testid="mapping-editor">
      <Title order={3} size="h5">
        Column mapping
      </Title>
      {preview.proposal?.notes.map(note => (
        <Alert key={note} color="yellow" p="xs">
          <Text size="sm">{note}</Text>
        </Alert>
      ))}
      <ColumnParts columns={columns} mapping={mapping} onChange={change} />
      <PromptParts mapping={mapping} places={places} onChange={change} fault={fault} />
      {mapping.answer && (
        <AnswerRule
          answer={mapping.answer}
          places={places}
          onChange={answer => change({ ...mapping, answer })}
          fault={member => fault(`/answer/${member}`) ?? (member === "choices" ? fault("/answer") : undefined)}
        />
      )}
      <Switch
        label="Leave out rows that cannot be mapped, with a warning"
        checked={mapping.faulty_rows === "leave_out"}
        onChange={event => change({ ...mapping, faulty_rows: event.currentTarget.checked ? "leave_out" : "refuse" })}
      />
      <SaveMapping mapping={mapping} columns={columns.map(column => column.name)} />
    </Stack>
  );
}

function SaveMapping({ mapping, columns }: { mapping: DatasetMapping; columns: string[] }) {
  const [name, setName] = useState("");
  const client = useQueryClient();
  const save = useSubmit({
    mutationFn: () => api.createDatasetMapping({ name, mapping, columns }),
    onSuccess: async () => {
      toast(`Mapping ${name} saved.`);
      setName("");
      await client.invalidateQueries({ queryKey: ["dataset-mappings"] });
      await client.invalidateQueries({ queryKey: ["dataset-preview"] });
    },
  });
  const submit = () => {
    if (name.trim() && isComplete(mapping)) save.mutate();
  };
  return (
    <Group align="flex-end" gap="xs">
      <TextInput
        style={{ flex: 1 }}
        label="Save mapping as"
        description="Offered for files with the same columns."
        value={name}
        maxLength={120}
        error={save.error && (fieldError(save.error, "/name") ?? errorText(save.error))}
        onChange={event => setName(event.currentTarget.value)}
        onKeyDown={event => {
          if (event.key !== "Enter") return;
          event.preventDefault(); // the form around it would send the file
          submit();
        }}
      />
      <Button
        variant="default"
        disabled={!name.trim() || !isComplete(mapping)}
        loading={save.isPending}
        onClick={submit}
      >
        Save
      </Button>
    </Group>
  );
}
