import { Text } from "@mantine/core";
import { formatValue } from "@/lib/format";
import type { Change } from "./pointer";

/** Changed keys only: path, before → after. */
export function ChangeList({ changes, empty }: { changes: Change[]; empty: string }) {
  if (changes.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {empty}
      </Text>
    );
  }
  return (
    <ul style={{ listStyle: "none", margin: 0, padding: 0, display: "grid", gap: 6 }} data-testid="change-list">
      {changes.map(({ path, before, after }) => (
        <li key={path.join(".")} style={{ fontSize: 12.5, overflowWrap: "anywhere" }}>
          <span className="mono" style={{ color: "var(--c-text-2)" }}>
            {path.join(".") || "spec"}
          </span>
          <br />
          <span className="num">
            <del style={{ color: "var(--c-bad)", textDecoration: "none" }}>
              {before === undefined ? "absent" : formatValue(before)}
            </del>{" "}
            →{" "}
            <ins style={{ color: "var(--c-good)", textDecoration: "none" }}>
              {after === undefined ? "absent" : formatValue(after)}
            </ins>
          </span>
        </li>
      ))}
    </ul>
  );
}
