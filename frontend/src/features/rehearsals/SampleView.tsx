/** One completion with its grade and the grader's reason. */
import { Badge, Group, Paper, Table, Text } from "@mantine/core";
import type { RehearsalSample } from "@/api/model";
import rollouts from "@/features/rollouts/rollouts.module.css";
import { splitThinking, type Tags } from "@/features/rollouts/thinking";
import { formatNumber } from "@/lib/format";
import ui from "@/ui/ui.module.css";
import { Written } from "@/ui/Written";
import { endOf } from "./rehearsal";

interface Props {
  sample: RehearsalSample;
  number: number;
  tags: Tags | null;
}

export function SampleView({ sample, number, tags }: Props) {
  const { thinking, answer, closed } = splitThinking(sample.text, tags);
  return (
    <Paper
      p="sm"
      component="section"
      aria-label={`Sample ${number}`}
      data-testid="rehearsal-sample"
      style={{ minWidth: 0 }}
    >
      <Group justify="space-between" gap="xs" mb={6}>
        <Text size="sm" fw={600}>
          Sample {number}
        </Text>
        <Group gap={6}>
          <Text size="xs" c="dimmed" className="num">
            {sample.tokens} tokens, {endOf(sample)}
          </Text>
          <Badge color={sample.reward === null ? "red" : "gray"} variant="light" className="num">
            {sample.reward === null ? "no reward" : `reward ${formatNumber(sample.reward)}`}
          </Badge>
        </Group>
      </Group>
      <Grades sample={sample} />
      {thinking !== null && (
        <>
          <div className={ui.caption}>
            Thinking <span className="num">{closed ? `${sample.thinking_tokens} tokens` : "never closed"}</span>
          </div>
          <Written label={`Thinking of sample ${number}`} className={rollouts.thinking}>
            {thinking.trim()}
          </Written>
        </>
      )}
      <div className={ui.caption}>Answer</div>
      {answer.trim() ? (
        <Written label={`Answer of sample ${number}`}>{answer.trim()}</Written>
      ) : (
        <Text size="sm" c="var(--c-warn)">
          None.
        </Text>
      )}
    </Paper>
  );
}

function Grades({ sample }: { sample: RehearsalSample }) {
  const parts = Object.entries(sample.parts);
  return (
    <>
      {parts.length > 0 && (
        <Table verticalSpacing={2} horizontalSpacing={4} fz="xs" aria-label="Grades">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Part</Table.Th>
              <Table.Th ta="right">Grade</Table.Th>
              <Table.Th>Why</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {parts.map(([name, grade]) => (
              <Table.Tr key={name}>
                <Table.Td className="mono">{name}</Table.Td>
                <Table.Td ta="right" className="num">
                  {formatNumber(grade)}
                </Table.Td>
                <Table.Td style={{ overflowWrap: "anywhere" }}>{sample.reasons[name] ?? ""}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {sample.error && (
        <Text size="sm" c="var(--c-bad)" mt={4} role="alert" style={{ overflowWrap: "anywhere" }}>
          {sample.error}
        </Text>
      )}
      {sample.forgiven.length > 0 && (
        <Text size="xs" c="var(--c-warn)" mt={4}>
          Failed and counted as 0: {sample.forgiven.join(", ")}
        </Text>
      )}
    </>
  );
}
