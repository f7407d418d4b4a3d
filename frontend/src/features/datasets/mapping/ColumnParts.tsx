/** The columns of a file, each with examples and what becomes of it. */
import { Checkbox, NativeSelect, Stack, Text } from "@mantine/core";
import { Fragment } from "react";
import type { DatasetMapping, PreviewColumn } from "@/api/model";
import { looksInto, PARTS, partOf, withJson, withPart, type Part } from "./draft";
import classes from "./mapping.module.css";

interface Props {
  columns: PreviewColumn[];
  mapping: DatasetMapping;
  onChange: (mapping: DatasetMapping) => void;
}

export function ColumnParts({ columns, mapping, onChange }: Props) {
  return (
    <div className={classes.columns} role="group" aria-label="Columns of the file">
      {columns.map(column => (
        <Fragment key={column.name}>
          <Text size="sm" className="mono" truncate title={`${column.name}: ${column.type}`}>
            {column.name}
          </Text>
          <Text size="xs" c="dimmed" className={classes.example} title={column.examples.map(shown).join("\n")}>
            {column.examples.map(shown).join(" · ") || "always empty"}
          </Text>
          <Stack gap={4}>
            <NativeSelect
              size="xs"
              aria-label={`Target of ${column.name}`}
              data={PARTS}
              value={partOf(mapping, column)}
              onChange={event => onChange(withPart(mapping, column, event.currentTarget.value as Part))}
            />
            {column.json_text && partOf(mapping, column) !== "left_out" && (
              <Checkbox
                size="xs"
                label="Read as JSON"
                aria-label={`Read ${column.name} as JSON`}
                checked={(mapping.json_columns ?? []).includes(column.name)}
                disabled={looksInto(mapping, column)}
                onChange={event => onChange(withJson(mapping, column, event.currentTarget.checked))}
              />
            )}
          </Stack>
        </Fragment>
      ))}
    </div>
  );
}

function shown(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}
