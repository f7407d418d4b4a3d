/** The page of a dry run: findings, then every prompt with its samples. */
import { Accordion, Badge, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { Rehearsal, RehearsalGroup, RehearsalReport } from "@/api/model";
import { onCluster } from "@/entities/clusters/words";
import { type Tags, thinkingTags } from "@/features/rollouts/thinking";
import { formatAgo, formatDuration, formatNumber, formatPercent, formatValue } from "@/lib/format";
import { Facts } from "@/ui/Facts";
import { Loaded } from "@/ui/Loaded";
import { PageHeader } from "@/ui/PageHeader";
import { Placeholder } from "@/ui/Placeholder";
import { Ended, Held } from "./Held";
import { Outcome } from "./Outcome";
import { PromptView } from "./PromptView";
import { isOpen, rehearsalQuery } from "./queries";
import classes from "./rehearsals.module.css";
import { SampleView } from "./SampleView";

export function RehearsalPage() {
  const { rehearsalId } = useParams({ from: "/app/rehearsals/$rehearsalId" });
  const query = useQuery(rehearsalQuery(rehearsalId));
  return (
    <Loaded query={query} page skeleton={<Placeholder height={400} />}>
      {rehearsal => <RehearsalView rehearsal={rehearsal} />}
    </Loaded>
  );
}

export function RehearsalView({ rehearsal }: { rehearsal: Rehearsal }) {
  const { report } = rehearsal;
  return (
    <div data-testid="rehearsal-page" data-state={rehearsal.state}>
      <PageHeader
        title={`Dry run of ${rehearsal.policy}`}
        description={`${rehearsal.prompts} prompts per source, ${rehearsal.samples} samples per prompt. Requested by ${rehearsal.created_by} ${formatAgo(rehearsal.created_at)}${onCluster(rehearsal.placed_on)}; stored for a week.`}
      />
      {isOpen(rehearsal) && (
        <Paper p="md">
          <Held rehearsal={rehearsal} />
        </Paper>
      )}
      {(rehearsal.state === "failed" || rehearsal.state === "cancelled") && <Ended rehearsal={rehearsal} />}
      {report && <Report rehearsal={rehearsal} report={report} />}
    </div>
  );
}

function Report({ rehearsal, report }: { rehearsal: Rehearsal; report: RehearsalReport }) {
  const { speed } = report;
  const tags = thinkingTags(rehearsal.spec);
  return (
    <Stack gap="md">
      <div className={classes.outcome}>
        <Paper p="md" component="section" aria-label="Findings and signal">
          <Outcome rehearsal={rehearsal} report={report} />
        </Paper>
        <Paper p="md" component="section" aria-label="Figures">
          <Facts
            facts={[
              ["Truncated", formatPercent(report.cut_share)],
              ["Loading", formatDuration(Math.round(speed.start_s))],
              ["Generating", formatDuration(Math.round(speed.generate_s))],
              ["Tokens per second", formatNumber(speed.tokens_per_s, 3)],
              ["Average prompt", `${formatNumber(speed.prompt_tokens, 3)} tokens`],
              [
                "Chat template",
                report.template_sha256 ? <span className="mono">{report.template_sha256.slice(0, 12)}</span> : "none",
              ],
            ]}
          />
        </Paper>
      </div>
      <Title order={2}>Prompts and samples</Title>
      <Accordion multiple variant="separated" defaultValue={report.groups[0] ? [keyOf(report.groups[0])] : []}>
        {report.groups.map(group => (
          <Accordion.Item key={keyOf(group)} value={keyOf(group)}>
            <Accordion.Control data-testid="rehearsal-group">
              <GroupLine group={group} />
            </Accordion.Control>
            <Accordion.Panel>
              <GroupBody group={group} tags={tags} />
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </Stack>
  );
}

const keyOf = ({ source, row }: RehearsalGroup) => `${source}:${row}`;

function GroupLine({ group }: { group: RehearsalGroup }) {
  const rewards = group.samples.map(sample => sample.reward);
  const signal = new Set(rewards.filter(reward => reward !== null)).size > 1;
  return (
    <Group gap="sm" justify="space-between">
      <Text size="sm">
        {group.source}, row {group.row}
      </Text>
      <Group gap="xs">
        <Text size="xs" c="dimmed" className="num">
          {rewards.map(reward => formatNumber(reward)).join(" · ")}
        </Text>
        <Badge variant="light" color={signal ? "petrol" : "gray"}>
          {signal ? "signal" : "no signal"}
        </Badge>
      </Group>
    </Group>
  );
}

function GroupBody({ group, tags }: { group: RehearsalGroup; tags: Tags | null }) {
  return (
    <Stack gap="sm">
      <PromptView group={group} />
      {group.answer !== null && (
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          <Text span size="xs" c="dimmed">
            Reference answer:{" "}
          </Text>
          {formatValue(group.answer)}
        </Text>
      )}
      <div className={classes.samples}>
        {group.samples.map((sample, place) => (
          <SampleView key={place} sample={sample} number={place + 1} tags={tags} />
        ))}
      </div>
    </Stack>
  );
}
