/** How many rows have which share, from 0 to 100 %, as bars. */
import { Group, Text } from "@mantine/core";
import type { ScoreBin } from "@/api/model";
import { formatPercent } from "@/lib/format";

const count = (value: number) => value.toLocaleString("en-GB");
const HEIGHT = 72;

interface Props {
  bins: ScoreBin[];
  /** Description of the bars for screen readers. */
  label: string;
  note: string;
  isBad: (bin: ScoreBin) => boolean;
}

export function ShareBins({ bins, label, note, isBad }: Props) {
  const most = Math.max(1, ...bins.map(bin => bin.rows));
  return (
    <figure style={{ margin: 0 }}>
      <div role="img" aria-label={label} style={{ display: "flex", alignItems: "flex-end", gap: 2, height: HEIGHT }}>
        {bins.map(bin => (
          <div
            key={bin.least}
            title={`${formatPercent(bin.least)} to ${formatPercent(bin.most)}: ${count(bin.rows)}`}
            style={{
              flex: 1,
              height: bin.rows === 0 ? 1 : Math.max(3, (bin.rows / most) * HEIGHT),
              background: isBad(bin) ? "var(--c-bad)" : "var(--mantine-primary-color-filled)",
              borderRadius: 2,
            }}
          />
        ))}
      </div>
      <Group justify="space-between" component="figcaption">
        <Text size="xs" c="dimmed">
          0 %
        </Text>
        <Text size="xs" c="dimmed">
          {note}
        </Text>
        <Text size="xs" c="dimmed">
          100 %
        </Text>
      </Group>
    </figure>
  );
}
