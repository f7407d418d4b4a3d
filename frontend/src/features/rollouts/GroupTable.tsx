/** One row per group: the prompt, what came of its samples, and each of them as a cell. */
import { Badge, Checkbox, Table, Text, VisuallyHidden } from "@mantine/core";
import type { Group, GroupSample } from "@/api/model";
import { formatCount, formatNumber, formatPercent } from "@/lib/format";
import { TableFrame } from "@/ui/TableFrame";
import ui from "@/ui/ui.module.css";
import classes from "./rollouts.module.css";

interface Props {
  groups: Group[];
  /** Keys of chosen groups. */
  picked: string[];
  onPick: (key: string) => void;
  /** Opens a group with its samples side by side. */
  onOpen: (group: Group, sample: GroupSample) => void;
  /** Opens the tokens of a sample. */
  onTokens: (group: Group, sample: GroupSample) => void;
}

export const groupKey = (group: Group) => `${group.attempt}/${group.step}/${group.group_id}`;

export function GroupTable({ groups, picked, ...acts }: Props) {
  return (
    <TableFrame label="Groups">
      <Table highlightOnHover data-testid="groups-table" verticalSpacing={5}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={32} pos="relative">
              <VisuallyHidden>Selected</VisuallyHidden>
            </Table.Th>
            <Table.Th ta="right">Step</Table.Th>
            <Table.Th>Group</Table.Th>
            <Table.Th>Source</Table.Th>
            <Table.Th>Prompt</Table.Th>
            <Table.Th>Samples</Table.Th>
            <Table.Th ta="right">Passed</Table.Th>
            <Table.Th ta="right">Reward</Table.Th>
            <Table.Th ta="right">Range</Table.Th>
            <Table.Th ta="right">Length</Table.Th>
            <Table.Th ta="right">Worst gap</Table.Th>
            <Table.Th ta="right">Staleness</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {groups.map(group => (
            <Row key={groupKey(group)} group={group} picked={picked.includes(groupKey(group))} {...acts} />
          ))}
        </Table.Tbody>
      </Table>
    </TableFrame>
  );
}

interface RowProps extends Pick<Props, "onPick" | "onOpen" | "onTokens"> {
  group: Group;
  picked: boolean;
}

function Row({ group, picked, onPick, onOpen, onTokens }: RowProps) {
  const first = group.samples.find(sample => sample.matches) ?? group.samples[0];
  const open = () => first && onOpen(group, first);
  return (
    <Table.Tr
      className={ui.row}
      tabIndex={0}
      aria-label={`Group ${group.group_id} of step ${group.step}`}
      data-dead={group.dead || undefined}
      onClick={() => open()}
      onKeyDown={event => event.key === "Enter" && event.target === event.currentTarget && open()}
    >
      <Table.Td onClick={event => event.stopPropagation()}>
        <Checkbox
          size="xs"
          aria-label={`Choose group ${group.group_id} of step ${group.step}`}
          checked={picked}
          onChange={() => onPick(groupKey(group))}
        />
      </Table.Td>
      <Table.Td ta="right">{group.step}</Table.Td>
      <Table.Td className="mono">
        {group.group_id} {group.dead && <Badge color="gray">no signal</Badge>}
      </Table.Td>
      <Table.Td className="mono">{group.source}</Table.Td>
      <Table.Td>
        <div className={classes.text} title={group.prompt}>
          {group.prompt}
        </div>
      </Table.Td>
      <Table.Td>
        <div className={classes.cells}>
          {group.samples.map(sample => (
            <button
              key={sample.id}
              type="button"
              className={classes.cell}
              data-outcome={outcome(sample)}
              data-dim={!sample.matches || undefined}
              title={sampleText(sample)}
              aria-label={sampleText(sample)}
              onClick={event => {
                event.stopPropagation();
                (group.tokens ? onTokens : onOpen)(group, sample);
              }}
            >
              {mark(sample)}
            </button>
          ))}
        </div>
      </Table.Td>
      <Table.Td ta="right">{formatPercent(group.pass_rate)}</Table.Td>
      <Table.Td ta="right">{formatNumber(group.reward_mean, 3)}</Table.Td>
      <Table.Td ta="right">
        <Text span size="xs" c="dimmed" className="num">
          {formatNumber(group.reward_min, 3)} to {formatNumber(group.reward_max, 3)}
        </Text>
      </Table.Td>
      <Table.Td ta="right" title={`Longest: ${group.length_max} tokens`}>
        {formatCount(Math.round(group.length_mean))}
      </Table.Td>
      <Table.Td ta="right">{formatNumber(group.worst_gap, 3)}</Table.Td>
      <Table.Td ta="right">{formatNumber(group.staleness)}</Table.Td>
    </Table.Tr>
  );
}

function outcome(sample: GroupSample): string {
  if (sample.reward_error) return "error";
  if (sample.right === null) return "unknown";
  return sample.right ? "correct" : "incorrect";
}

/** Told by shape too: not everybody sees the colours apart. */
function mark(sample: GroupSample): string {
  return { error: "!", unknown: "·", right: "✓", wrong: "✗" }[outcome(sample)] ?? "·";
}

function sampleText(sample: GroupSample): string {
  const reward = sample.reward_error ? "reward error" : `reward ${formatNumber(sample.reward, 3)}`;
  const cut = sample.budget_hit ? ", cut by the budget" : sample.finish_reason === "length" ? ", truncated" : "";
  return `Sample ${sample.sample + 1}: ${reward}, ${sample.length} tokens${cut}`;
}
