/** Edits a row as JSON text, for a new version. */
import { Alert, Button, Group, JsonInput, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { LeaveGuard } from "@/ui/LeaveGuard";

interface Props {
  text: string;
  error: string | null;
  pending: boolean;
  /** Called with whether there are unsaved changes. */
  onDirty: (dirty: boolean) => void;
  onSave: (text: string) => void;
  onCancel: () => void;
}

export function RowEditor({ text, error, pending, onDirty, onSave, onCancel }: Props) {
  const [draft, setDraft] = useState(text);
  const fault = faultOf(draft);
  return (
    <Stack gap="sm">
      <LeaveGuard when={draft !== text}>The changed row is not saved.</LeaveGuard>
      <JsonInput
        label="The row as JSON"
        autosize
        minRows={10}
        maxRows={28}
        spellCheck={false}
        value={draft}
        onChange={next => {
          setDraft(next);
          onDirty(next !== text);
        }}
        error={fault}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
      />
      <Text size="xs" c="dimmed">
        Saving creates the next version of the dataset. The row keeps its id and position.
      </Text>
      {error && <Alert color="red">{error}</Alert>}
      <Group justify="flex-end">
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button disabled={fault !== null || draft === text} loading={pending} onClick={() => onSave(draft)}>
          Save as new version
        </Button>
      </Group>
    </Stack>
  );
}

function faultOf(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
