/** One row next to the list: its prompt or chat, its answer and all other columns, as stored. */
import { Alert, Badge, Button, CloseButton, Drawer, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { IconEdit, IconTrash } from "@tabler/icons-react";
import { useWindowEvent } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { memo, type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from "react";
import type { DatasetVersion, OneRow } from "@/api/model";
import { oneRowQuery } from "@/entities/datasets/queries";
import { useMayEdit } from "@/entities/datasets/read-only";
import { CopyText } from "@/ui/CopyText";
import { Loaded } from "@/ui/Loaded";
import { Placeholder } from "@/ui/Placeholder";
import { MarkedText } from "@/ui/MarkedText";
import { Pre } from "@/ui/Pre";
import ui from "@/ui/ui.module.css";
import { Written } from "@/ui/Written";
import { RowEditor } from "./RowEditor";
import { noteText } from "./RowList";
import { RowRuns } from "./RowRuns";
import { indented, members, type Member } from "./exact-json";
import type { RowChanges } from "./useRowChanges";

/** What takes the Esc key for itself. */
const ABOVE = '[role="dialog"], [role="menu"], [role="listbox"], [aria-expanded="true"]';

interface Props {
  datasetId: string;
  version: DatasetVersion;
  index: number;
  onClose: () => void;
  /** Begins to change the row. */
  onEdit: () => void;
  changes: RowChanges;
}

export function RowPanel({ datasetId, version, index, onClose, onEdit, changes }: Props) {
  const row = useQuery(oneRowQuery(datasetId, version.number, index));
  const [dirty, setDirty] = useState(false);
  const panel = useRef<HTMLDivElement>(null);
  useEscape(panel, () => {
    if (!dirty) onClose();
  });
  const title = `Row ${(index + 1).toLocaleString("en-GB")} of ${version.ref}`;
  return (
    <Drawer.Root
      opened
      onClose={onClose}
      position="right"
      size="min(680px, 100%)"
      lockScroll={false}
      trapFocus={false}
      returnFocus={false}
      closeOnEscape={false} // it would take the key from whatever is above
    >
      <Drawer.Content aria-label={title} ref={panel}>
        <Drawer.Body pt="md">
          <Group justify="space-between" mb="xs" wrap="nowrap">
            <Title order={2}>{title}</Title>
            <CloseButton onClick={onClose} aria-label="Close row" />
          </Group>
          <Loaded query={row} skeleton={<Placeholder height={240} />}>
            {data => (
              <Row
                key={`${version.number} ${data.id}`}
                row={data}
                runs={<RowRuns datasetId={datasetId} version={version.number} index={index} />}
                onEdit={onEdit}
                onDirty={setDirty}
                changes={changes}
              />
            )}
          </Loaded>
        </Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}

/** Closes at Esc, but where the key is meant for something above the panel, such as a menu or a dialog. */
function useEscape(panel: RefObject<HTMLElement | null>, onEscape: () => void) {
  useWindowEvent("keydown", event => {
    if (event.key !== "Escape" || event.isComposing || event.defaultPrevented) return;
    const above = (event.target as Element | null)?.closest?.(ABOVE);
    if (!above || above === panel.current || above.contains(panel.current)) onEscape();
  });
}

interface RowProps {
  row: OneRow;
  runs: ReactNode;
  onEdit: () => void;
  onDirty: (dirty: boolean) => void;
  changes: RowChanges;
}

function Row({ row, runs, onEdit, onDirty, changes }: RowProps) {
  const editor = useMayEdit();
  const [editing, setEditing] = useState(false);
  useEffect(() => () => onDirty(false), [onDirty]); // another row has another draft
  const text = useMemo(() => (editing ? indented(row.json) : ""), [editing, row.json]);
  if (editing)
    return (
      <RowEditor
        text={text}
        error={changes.error}
        pending={changes.pending}
        onDirty={onDirty}
        onSave={text => changes.change(row.id, text)}
        onCancel={() => {
          changes.reset();
          onDirty(false);
          setEditing(false);
        }}
      />
    );
  return (
    <Stack gap="sm" data-testid="row-panel">
      <Group gap="xs">
        <CopyText value={row.id} label="Copy id" />
        <Text size="xs" c="dimmed" className="num">
          {row.length.toLocaleString("en-GB")} characters · {row.script === "none" ? "no letters" : row.script}
        </Text>
      </Group>
      {row.control_tokens.length > 0 && (
        <Alert color="yellow">
          Contains text that looks like control tokens: {row.control_tokens.join(" ")}. The policy receives it as plain
          text.
        </Alert>
      )}
      <Columns json={row.json} />
      <Notes notes={row.notes} />
      {runs}
      {changes.error && <Alert color="red">{changes.error}</Alert>}
      {editor && (
        <Group>
          <Button
            variant="default"
            leftSection={<IconEdit size={15} />}
            onClick={() => {
              onEdit();
              setEditing(true);
            }}
          >
            Edit
          </Button>
          <Button
            variant="default"
            color="red"
            leftSection={<IconTrash size={15} />}
            loading={changes.pending}
            onClick={() => changes.remove([row.id])}
          >
            Remove
          </Button>
        </Group>
      )}
    </Stack>
  );
}

/** Redrawn only for another row: rows may have a megabyte, and the list next to them scrolls. */
const Columns = memo(function Columns({ json }: { json: string }) {
  return members(json).map(member => <Column key={member.name} member={member} />);
});

function Column({ member: { name, text } }: { member: Member }) {
  const chat = name === "messages" ? turns(text) : null;
  return (
    <div>
      <div className={`${ui.caption} mono`}>{name}</div>
      {chat ? (
        chat.map((turn, number) => (
          <Paper key={number} withBorder p="xs" mb={6}>
            <Badge variant="light" color={turn.role === "user" ? "petrol" : "gray"} mb={4}>
              {turn.role}
            </Badge>
            <Written label={`${turn.role}, message ${number + 1}`}>{turn.content}</Written>
          </Paper>
        ))
      ) : text.startsWith('"') ? (
        <Written label={name}>{JSON.parse(text) as string}</Written>
      ) : (
        <Pre label={name}>
          <MarkedText>{indented(text)}</MarkedText>
        </Pre>
      )}
    </div>
  );
}

function Notes({ notes }: { notes: OneRow["notes"] }) {
  return Object.entries(notes).map(([name, values]) => (
    <section key={name} aria-label={`Notes: ${name}`}>
      <div className={`${ui.caption} mono`}>{name}</div>
      <Text size="sm">
        {Object.entries(values as Record<string, unknown>)
          .map(([column, value]) => `${column.replaceAll("_", " ")} ${noteText(value) || "unknown"}`)
          .join(" · ")}
      </Text>
    </section>
  ));
}

/** The turns of a chat; null if it is none. */
function turns(text: string): { role: string; content: string }[] | null {
  const found: unknown = JSON.parse(text);
  if (!Array.isArray(found)) return null;
  return found.map((turn: { role?: unknown; content?: unknown }) => ({
    role: String(turn.role),
    content: String(turn.content),
  }));
}
