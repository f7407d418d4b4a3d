/** What one rank of the learner and one engine will hold, and what other splits of the learner would save. */
import { Paper, Table, Text, Title } from "@mantine/core";
import type { LearnerMemory, Memory } from "@/api/model";
import { formatBytes, formatCount } from "@/lib/format";
import { Facts } from "@/ui/Facts";

/** In the order in which a reader would look for them. */
const PARTS: [keyof LearnerMemory & string, string][] = [
  ["weights", "Weights"],
  ["gathered", "Gathered weights"],
  ["masters", "Float32 masters"],
  ["moments", "Optimizer moments"],
  ["gradients", "Gradients"],
  ["activations", "Activations"],
  ["reference", "Reference policy"],
  ["proximal", "Proximal policy"],
  ["teacher", "Teacher"],
  ["critic", "Critic"],
  ["reducing", "Gradients in transit"],
  ["export", "Weights for engines"],
  ["host", "In host memory instead"],
];

interface Props {
  memory: Memory | null | undefined;
  /** Whether the run has rollout engines. */
  engines?: boolean;
}

export function MemoryPanel({ memory, engines = true }: Props) {
  if (!memory) return null;
  const { learner, choices, engine } = memory;
  return (
    <Paper p="sm" component="section" aria-label="Memory" data-testid="memory">
      <Title order={3} mb={6}>
        Memory
      </Title>
      <Facts facts={[["Learner rank, peak", formatBytes(learner.peak)], ...(engines ? engineFacts(engine) : [])]} />
      <Table mt="xs" fz="xs" verticalSpacing={3} horizontalSpacing={4} aria-label="Learner rank by part">
        <Table.Tbody>
          {PARTS.filter(([part]) => Number(learner[part]) > 0).map(([part, label]) => (
            <Table.Tr key={part}>
              <Table.Td>{label}</Table.Td>
              <Table.Td ta="right" className="num">
                {formatBytes(Number(learner[part]))}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {choices.length > 1 && <Choices learner={learner} choices={choices} />}
      <Text size="xs" c="dimmed" mt={6}>
        Parts that exist at different times do not add up to the peak. Each process needs about 0.5 GiB more for its
        libraries.
      </Text>
    </Paper>
  );
}

function engineFacts(engine: Memory["engine"]): [string, string][] {
  const name = engine.devices > 1 ? `Rollout engine, each of ${engine.devices} devices` : "Rollout engine";
  return [
    [name, formatBytes(engine.total)],
    ["KV cache part", `${formatBytes(engine.kv_cache)}, ${formatCount(engine.kv_tokens)} tokens`],
  ];
}

/** Peaks of a rank, by number of ranks and ZeRO stage. */
function Choices({ learner, choices }: { learner: LearnerMemory; choices: readonly LearnerMemory[] }) {
  const stages = [...new Set(choices.map(choice => choice.zero_stage))];
  const ranks = [...new Set(choices.map(choice => choice.ranks))];
  return (
    <Table mt="xs" fz="xs" verticalSpacing={3} horizontalSpacing={4} aria-label="Peak of a rank">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Ranks</Table.Th>
          {stages.map(stage => (
            <Table.Th key={stage} ta="right">
              ZeRO {stage}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {ranks.map(count => (
          <Table.Tr key={count}>
            <Table.Td className="num">{count}</Table.Td>
            {stages.map(stage => {
              const own = stage === learner.zero_stage && count === learner.ranks;
              const choice = choices.find(one => one.zero_stage === stage && one.ranks === count);
              return (
                <Table.Td key={stage} ta="right" className="num" fw={own ? 600 : undefined} data-own={own || undefined}>
                  {formatBytes(choice?.peak)}
                </Table.Td>
              );
            })}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
