/** A group side by side: the same prompt, and what the policy made of it. */
import { telemetry } from "@/api/client";
import { Badge, Drawer, Group, Paper, Skeleton, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Rollout, Run } from "@/api/model";
import { DASH, formatNumber, formatValue } from "@/lib/format";
import { ErrorState } from "@/ui/ErrorState";
import ui from "@/ui/ui.module.css";
import { Written } from "@/ui/Written";
import { RewardCell } from "./RewardCell";
import classes from "./rollouts.module.css";
import { splitThinking, type Tags, thinkingTags } from "./thinking";

interface Props {
  run: Run;
  /** `group:sample`, or null when nothing is open. */
  selected: string | null;
  onSelect: (next: string | null) => void;
}

export function RolloutDrawer({ run, selected, onSelect }: Props) {
  const [group = "", sample = ""] = selected?.split(":") ?? [];
  const siblings = useQuery({
    queryKey: ["run", run.id, "rollouts", "group", group],
    queryFn: ({ signal }) => telemetry.rollouts(run.id, { group_id: group, limit: 200 }, signal),
    enabled: selected !== null,
    select: list => [...list.data].sort((a, b) => a.sample - b.sample),
  });
  const rows = siblings.data ?? [];
  const first = rows[0];
  const tags = thinkingTags(run.spec);
  return (
    <Drawer
      opened={selected !== null}
      onClose={() => onSelect(null)}
      position="right"
      size="min(1100px, 100%)"
      title={first ? `Group ${first.group_id} · step ${first.step} · ${first.source}` : "Group"}
    >
      {siblings.isPending && selected !== null && <Skeleton height={300} />}
      {siblings.isError && <ErrorState error={siblings.error} retry={() => void siblings.refetch()} />}
      {siblings.isSuccess && !first && <Text c="dimmed">This group is no longer kept.</Text>}
      {first && (
        <>
          <div className={ui.caption}>Prompt</div>
          <Written label="Prompt">{first.prompt}</Written>
          <Group gap="lg" mt="xs" mb="sm">
            <Fact label="Reference answer" value={first.answer === null ? DASH : formatValue(first.answer)} />
            <Fact label="Prompt id" value={first.prompt_id} />
            <Fact label="Control revision" value={String(first.control_revision)} />
            <Fact label="Weight versions" value={[...new Set(first.policy_versions)].join(" to ")} />
          </Group>
          <div className={classes.siblings}>
            {rows.map(row => (
              <Sibling key={row.sample} row={row} tags={tags} current={String(row.sample) === sample} />
            ))}
          </div>
        </>
      )}
    </Drawer>
  );
}

function Sibling({ row, tags, current }: { row: Rollout; tags: Tags | null; current: boolean }) {
  const { thinking, answer, closed } = splitThinking(row.completion, tags);
  return (
    <Paper className={classes.sibling} data-current={current || undefined}>
      <Group justify="space-between" wrap="nowrap" gap={6}>
        <Text size="xs" c="dimmed">
          Sample {row.sample + 1}
        </Text>
        <Group gap={4} wrap="nowrap">
          {row.budget_hit && <Badge color="grape">budget hit</Badge>}
          {row.excluded && <Badge color="gray">left out: {row.excluded.replaceAll("_", " ")}</Badge>}
        </Group>
      </Group>
      <Group gap="md" mt={4} wrap="wrap">
        <RewardCell row={row} />
        <Text size="xs" c="dimmed" className="num">
          A {row.excluded ? DASH : formatNumber(row.advantage, 3)} · {row.length} tokens · {row.finish_reason}
        </Text>
      </Group>
      {row.reward_error && (
        <Text size="xs" c="var(--c-bad)" mt={4}>
          {row.reward_error}
        </Text>
      )}
      {thinking !== null && (
        <>
          <div className={ui.caption}>
            Thinking <span className="num">{row.thinking_tokens} tokens</span>
            {!closed && <span>not closed</span>}
          </div>
          <Written label={`Thinking of sample ${row.sample + 1}`} className={classes.thinking}>
            {thinking.trim()}
          </Written>
        </>
      )}
      <div className={ui.caption}>Answer</div>
      <Written label={`Answer of sample ${row.sample + 1}`}>{answer.trim()}</Written>
    </Paper>
  );
}

function Fact({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text size="sm" className="mono">
        {value}
      </Text>
    </div>
  );
}
