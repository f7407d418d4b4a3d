/** Keys of the specs in which the runs differ, and no others. */
import { Text } from "@mantine/core";
import type { Run } from "@/api/model";
import { formatValue } from "@/lib/format";
import type { ChangedKey } from "./changed";
import { RunColumns } from "./RunColumns";

interface Props {
  runs: Run[];
  keys: ChangedKey[];
  /** Keys that are shown at first; without it all are. */
  few?: number;
}

export function Differences({ runs, keys, few }: Props) {
  return (
    <RunColumns
      title="What differs"
      description={
        keys.length > 0
          ? "Keys that differ between the specs in force, including controls."
          : "None: the specs in force are the same."
      }
      runs={runs}
      few={few}
      rows={keys.map(({ path, values }) => ({
        key: path.join("."),
        head: <span className="mono">{path.join(".") || "spec"}</span>,
        cells: values.map(value =>
          value === undefined ? (
            <Text size="sm" c="dimmed">
              absent
            </Text>
          ) : (
            <span className="num" style={{ overflowWrap: "anywhere" }}>
              {formatValue(value)}
            </span>
          ),
        ),
      }))}
      testId="differences"
    />
  );
}
