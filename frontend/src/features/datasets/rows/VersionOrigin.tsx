/** The origin of a version: its file, the recognised row format, and warnings. */
import { Alert, Paper, Stack, Table, Text, Title } from "@mantine/core";
import type { Origin } from "@/api/model";
import { formatBytes } from "@/lib/format";
import { CopyText } from "@/ui/CopyText";
import { Facts } from "@/ui/Facts";
import { TableFrame } from "@/ui/TableFrame";

const FORMATS = {
  jsonl: "JSON Lines",
  json: "JSON",
  csv: "CSV",
  tsv: "TSV",
  parquet: "Parquet",
  kattis: "Archive of Kattis problems",
  harbor: "Archive of Harbor tasks",
} as const;

const WARNINGS: Record<Origin["warnings"][number]["code"], string> = {
  control_tokens: "Text that looks like control tokens",
  duplicate_rows: "Rows with the same prompt",
  other_answers: "Same prompt, different answers",
  duplicate_ids: "Duplicate ids",
  pictures: "Images, audio or video that the policy does not get",
  hidden_tools: "Tools that the policy is not shown",
  empty_answers: "Empty answers",
  missing_answers: "Missing answers",
  large_integers: "Whole numbers beyond 2^53",
  nan: "NaN read as null",
  left_out: "Rows left out",
};

/** The place, its commit, and what was chosen there. */
function importedText({ location, commit, config, split }: NonNullable<Origin["imported"]>): string {
  const chosen = [config, split].filter(part => part !== "").join(" / ");
  return `${location}${commit ? ` @ ${commit.slice(0, 8)}` : ""}${chosen && `: ${chosen}`}`;
}

export function VersionOrigin({ origin }: { origin: Origin | null }) {
  if (!origin) return null;
  const { file, shape, warnings, imported } = origin;
  const mapped = shape.mapping.length > 0;
  return (
    <Paper component="section" p="md" mb="md" aria-label="Origin" data-testid="version-origin">
      <Title order={2} mb="xs">
        How the file was read
      </Title>
      <Stack gap="sm">
        <Facts
          facts={[
            ["File", file.name || "unnamed"],
            [
              "Format",
              `${FORMATS[file.format]}${file.packed ? `, compressed with ${file.packing === "zstd" ? "Zstandard" : "gzip"}` : ""}`,
            ],
            ["File size", formatBytes(file.bytes)],
            [
              "File SHA-256",
              <span key="hash" className="mono" title={file.sha256}>
                {file.sha256.slice(0, 16)}…
              </span>,
            ],
            ["Row format", shape.title],
            ...(imported ? [["Imported from", importedText(imported)] satisfies [string, string]] : []),
          ]}
        />
        {warnings.map(warning => (
          <Alert key={warning.code} color="yellow" p="xs" title={WARNINGS[warning.code]}>
            <Text size="sm">{code(warning.detail)}</Text>
            <Text size="sm" mt={4}>
              {warning.first_rows.length < warning.rows ? "The first are rows " : "Rows "}
              {warning.first_rows.join(", ")}.
            </Text>
          </Alert>
        ))}
        {mapped ? (
          <TableFrame label="Created columns">
            <Table verticalSpacing={4}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th w={140}>Column</Table.Th>
                  <Table.Th>Created from</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {shape.mapping.map(({ column, source }) => (
                  <Table.Tr key={column}>
                    <Table.Td className="mono">{column}</Table.Td>
                    <Table.Td>{code(source)}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </TableFrame>
        ) : (
          <Text size="sm" c="dimmed">
            The rows are stored unchanged.
          </Text>
        )}
        {mapped && (
          <Text size="sm" c="dimmed">
            All other columns are unchanged. The rows below are mapped.
          </Text>
        )}
        {shape.grader && (
          <Fitting label="A grader for these rows" value={JSON.stringify(shape.grader)} name="the grader" />
        )}
        {shape.system && (
          <Fitting label="A system prompt for its answer format" value={shape.system} name="the system prompt" />
        )}
      </Stack>
    </Paper>
  );
}

function Fitting({ label, value, name }: { label: string; value: string; name: string }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <CopyText value={value} label={`Copy ${name}`} />
    </div>
  );
}

/** Text with what is between backticks set as code. */
function code(text: string) {
  return text.split("`").map((part, index) =>
    index % 2 ? (
      <code key={index} className="mono">
        {part}
      </code>
    ) : (
      part
    ),
  );
}
