/** One completion in a report: the beginning of its texts as they were, and the way to its tokens. */
import { Badge, Group, Paper, Text } from "@mantine/core";
import type { BlockOf } from "@/entities/reports/blocks";
import { formatNumber } from "@/lib/format";
import { Nothing } from "@/ui/Nothing";
import { TextLink } from "@/ui/TextLink";
import ui from "@/ui/ui.module.css";
import { Written } from "@/ui/Written";
import classes from "./reports.module.css";

export function SampleCard({ block }: { block: BlockOf<"sample"> }) {
  const { run, step, group, number, reward, note } = block;
  const name = `sample ${number + 1} of ${run.name || run.id}, step ${step}`;
  if (!group) return <Nothing>No sample selected.</Nothing>;
  return (
    <Paper className={classes.sample}>
      <Group gap={8} mb={4}>
        <Text size="sm" fw={600}>
          {run.name || run.id}, step {step.toLocaleString("en-GB")}, sample {number + 1}
        </Text>
        <Badge variant="light" color="gray">
          reward {reward === null || reward === undefined ? "not computed" : formatNumber(reward)}
        </Badge>
        <TextLink
          to="/runs/$runId"
          params={{ runId: run.id }}
          search={{ tab: "rollouts", group: `${group}:${number}` }}
          size="xs"
          underline="always"
        >
          Open group and tokens
        </TextLink>
      </Group>
      {note && (
        <Text size="sm" mb={4}>
          {note}
        </Text>
      )}
      <div className={ui.caption}>Prompt</div>
      <Written label={`Prompt of ${name}`}>{block.prompt ?? ""}</Written>
      <div className={ui.caption}>Completion</div>
      <Written label={`Completion of ${name}`}>{block.completion ?? ""}</Written>
    </Paper>
  );
}
