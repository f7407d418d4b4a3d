/** The beginning of a row, with where it stands and its gold answer. */
import { Text } from "@mantine/core";
import type { ShownRow } from "@/api/model";

export function ShownText({ row }: { row: ShownRow }) {
  return (
    <Text size="sm" style={{ overflowWrap: "anywhere" }} mt={2}>
      <Text span size="xs" c="dimmed" className="mono">
        {row.ref} · {row.index + 1}
      </Text>{" "}
      {row.text}
      {row.answer !== null && (
        <Text span size="sm" c="dimmed">
          {" "}
          → {row.answer}
        </Text>
      )}
    </Text>
  );
}
