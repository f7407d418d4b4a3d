/** Adds a block at the end of what is written. */
import { Button, Group, Text } from "@mantine/core";
import { IconChartLine, IconListDetails, IconMessage2, IconTable, IconTextPlus } from "@tabler/icons-react";
import { type Kind, MOST_BLOCKS } from "@/entities/reports/blocks";

export const KINDS: { kind: Kind; label: string; icon: typeof IconTable }[] = [
  { kind: "text", label: "Text", icon: IconTextPlus },
  { kind: "chart", label: "Chart", icon: IconChartLine },
  { kind: "evaluations", label: "Evaluations", icon: IconTable },
  { kind: "spec", label: "What differs", icon: IconListDetails },
  { kind: "sample", label: "Sample", icon: IconMessage2 },
];

export function AddBlock({ isFull, onAdd }: { isFull: boolean; onAdd: (kind: Kind) => void }) {
  return (
    <Group gap={6} mt="md" role="group" aria-label="Add a block">
      <Text size="sm" c="dimmed">
        {isFull ? `A report has at most ${MOST_BLOCKS} blocks.` : "Add"}
      </Text>
      {!isFull &&
        KINDS.map(({ kind, label, icon: Icon }) => (
          <Button
            key={kind}
            size="xs"
            variant="default"
            leftSection={<Icon size={14} />}
            onClick={() => onAdd(kind)}
            aria-label={`Add ${label.toLowerCase()}`}
          >
            {label}
          </Button>
        ))}
    </Group>
  );
}
