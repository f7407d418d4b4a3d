/** The first rows as the policy will see them, with their errors. */
import { Alert, Badge, Box, Group, Paper, Stack, Text } from "@mantine/core";
import type { DatasetPreview, Json, PreviewRow } from "@/api/model";
import { MarkedText } from "@/ui/MarkedText";
import classes from "./mapping.module.css";

export function PreviewRows({ preview }: { preview: DatasetPreview }) {
  return (
    <Stack gap="xs" data-testid="preview-rows">
      {preview.rows.map(row => (
        <PreviewedRow key={row.number} row={row} unit={preview.unit} />
      ))}
    </Stack>
  );
}

function PreviewedRow({ row, unit }: { row: PreviewRow; unit: string }) {
  return (
    <Paper withBorder p="xs" component="section" aria-label={`${unit} ${row.number}`}>
      <Group justify="space-between" gap="xs" mb={4}>
        <Text size="xs" c="dimmed" className="num">
          {unit} {row.number}
        </Text>
        {row.fault !== null && (
          <Badge color="red" variant="light" size="sm">
            invalid
          </Badge>
        )}
      </Group>
      {row.fault !== null && (
        <Alert color="red" p="xs">
          <Text size="sm">{row.fault}</Text>
        </Alert>
      )}
      {row.row ? <Asked row={row.row} /> : row.fault === null && row.source && <Plain row={row.source} />}
    </Paper>
  );
}

function Asked({ row }: { row: Record<string, Json> }) {
  const turns = Array.isArray(row.messages) ? row.messages.map(turnOf) : [{ role: "prompt", text: text(row.prompt) }];
  const others = ["answer", "reference", "tests", "source"].filter(
    name => row[name] !== undefined && row[name] !== null,
  );
  return (
    <dl className={classes.turns}>
      {turns.map(({ role, text }, place) => (
        <Turn key={place} label={role}>
          {text}
        </Turn>
      ))}
      {others.map(name => (
        <Turn key={name} label={name} made>
          {text(row[name])}
        </Turn>
      ))}
    </dl>
  );
}

function Plain({ row }: { row: Record<string, Json> }) {
  return (
    <dl className={classes.turns}>
      {Object.entries(row).map(([name, value]) => (
        <Turn key={name} label={name}>
          {text(value)}
        </Turn>
      ))}
    </dl>
  );
}

function Turn({ label, made = false, children }: { label: string; made?: boolean; children: string }) {
  return (
    <>
      <dt>
        <Text size="xs" c={made ? "var(--c-accent)" : "dimmed"} className="mono" truncate>
          {label}
        </Text>
      </dt>
      <dd>
        <Box className={classes.text}>
          <MarkedText>{children}</MarkedText>
        </Box>
      </dd>
    </>
  );
}

function turnOf(message: Json): { role: string; text: string } {
  if (message === null || typeof message !== "object" || Array.isArray(message))
    return { role: "", text: text(message) };
  return { role: text(message.role), text: text(message.content) };
}

const text = (value: Json | undefined): string =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
