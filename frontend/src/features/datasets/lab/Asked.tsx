/** The requests to a model, their cost, and the rows without a readable answer. */
import { Alert, Stack, Text } from "@mantine/core";
import type { AskedReport, RowWithReason } from "@/api/model";
import { askedText } from "./lab-text";
import { ShownText } from "./ShownText";

export function Asked({ asked }: { asked: AskedReport }) {
  const { failed, failures } = asked;
  return (
    <>
      {failed > 0 && (
        <Alert color="yellow" role="status">
          {failed === 1 ? "One row was" : `${failed.toLocaleString("en-GB")} rows were`} not answered.
        </Alert>
      )}
      {failures.length > 0 && <ReasonedRows label="Rows without an answer" rows={failures} />}
      <Text size="xs" c="dimmed">
        {askedText(asked)}
      </Text>
    </>
  );
}

export function ReasonedRows({ label, rows }: { label: string; rows: RowWithReason[] }) {
  return (
    <details>
      <Text component="summary" size="sm">
        {label}
      </Text>
      <Stack gap="xs" component="ul" p={0} m={0} mt="xs" style={{ listStyle: "none" }} aria-label={label}>
        {rows.map(({ row, reason }) => (
          <li key={row.index}>
            <ShownText row={row} />
            <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
              {reason}
            </Text>
          </li>
        ))}
      </Stack>
    </details>
  );
}
