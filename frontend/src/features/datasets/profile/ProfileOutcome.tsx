/** What a profile has found: pass rates with a band, dead groups, and suspects; and versions that are made of it. */
import { Alert, Button, Group, Paper, RangeSlider, Stack, Table, Text, Title } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { profiles } from "@/api/client";
import type { Dataset, Profile } from "@/api/model";
import { useCan } from "@/features/session/session";
import { formatCount, formatPercent } from "@/lib/format";
import { useRequestKey } from "@/lib/useRequestKey";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";
import { Facts } from "@/ui/Facts";
import { TableFrame } from "@/ui/TableFrame";
import { BINS, histogram, partsOf } from "./pass-rates";

type Report = NonNullable<Profile["report"]>;

interface Props {
  profile: Profile;
  report: Report;
  dataset: Dataset;
}

const ENDED: Record<string, string> = {
  settled: "All rows are settled",
  budget: "The budget was spent",
  time: "Time was up",
  most: "Rows in doubt have all their samples",
  errors: "Rewards could not be computed",
  lost: "Its workers were lost",
};

export function ProfileOutcome({ profile, report, dataset }: Props) {
  const [band, setBand] = useState<[number, number]>([profile.plan.min_pass_rate, profile.plan.max_pass_rate]);
  const editor = useCan("editor");
  const make = useVersions(profile, dataset);
  const parts = partsOf(report.states, band);
  return (
    <Stack gap="md">
      <Facts
        facts={[
          ["Policy", profile.policy],
          ["Reward", `${profile.reward}, right from ${profile.threshold}`],
          ["Samples", formatCount(report.asked)],
          ["Rows", formatCount(report.rows)],
          ["Rows in doubt", formatPercent(report.error, 1)],
          ["End", ENDED[report.stopped] ?? report.stopped],
        ]}
      />
      {report.warnings.map(warning => (
        <Alert key={warning} color="yellow">
          {warning}
        </Alert>
      ))}
      <Paper p="md" component="section" aria-label="Pass rates">
        <Title order={3} mb="sm">
          Pass rates
        </Title>
        <Bars bins={histogram(report.states)} band={band} />
        <RangeSlider
          min={0}
          max={1}
          step={0.05}
          minRange={0.05}
          value={band}
          onChange={setBand}
          label={value => formatPercent(value)}
          thumbFromLabel="Lower edge of the band"
          thumbToLabel="Upper edge of the band"
          mb="sm"
        />
        <Group justify="space-between">
          <Text size="sm" className="num" role="status" data-testid="profile-band">
            {formatCount(parts.inside)} rows from {formatPercent(band[0])} to {formatPercent(band[1])},{" "}
            {formatCount(parts.harder)} harder, {formatCount(parts.easier)} easier
          </Text>
          {editor && (
            <Button
              disabled={parts.inside === 0}
              loading={make.isPending}
              onClick={() => make.mutate({ min_pass_rate: band[0], max_pass_rate: band[1] })}
            >
              Make a version of the band
            </Button>
          )}
        </Group>
      </Paper>
      {make.error !== null && <ErrorState error={make.error} />}
      <Paper p="md" component="section" aria-label="Dead groups">
        <Title order={3} mb={4}>
          Dead groups
        </Title>
        <Text size="sm" c="dimmed" mb="sm">
          Groups whose samples would be all right or all wrong, so that nothing is learned, were every row drawn alike.
        </Text>
        <Facts
          facts={report.dead_shares.map(({ group_size, share }) => [
            `Groups of ${group_size}`,
            formatPercent(share, 1),
          ])}
        />
      </Paper>
      <Suspects report={report} />
      {editor && report.number_of_suspects > 0 && (
        <Group justify="flex-end">
          <Button variant="default" loading={make.isPending} onClick={() => make.mutate({ without_suspects: true })}>
            Make a version without suspects
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function useVersions(profile: Profile, dataset: Dataset) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const keyFor = useRequestKey();
  return useSubmit({
    mutationFn: (kept: { min_pass_rate?: number; max_pass_rate?: number; without_suspects?: boolean }) => {
      const body = { ...kept, latest: dataset.latest_version.number };
      return profiles.derive(profile.id, body, keyFor(body));
    },
    onSuccess: async ({ results }) => {
      await client.invalidateQueries({ queryKey: ["datasets"] });
      const [made] = results;
      if (made?.dataset_id)
        await navigate({
          to: "/datasets/$datasetId",
          params: { datasetId: made.dataset_id },
          search: { version: made.number },
        });
    },
  });
}

function Bars({ bins, band: [low, high] }: { bins: number[]; band: [number, number] }) {
  const most = Math.max(1, ...bins);
  return (
    <svg
      viewBox={`0 0 ${BINS * 10} 80`}
      preserveAspectRatio="none"
      width="100%"
      height={140}
      role="img"
      aria-label="Number of rows by pass rate"
    >
      {bins.map((rows, bin) => {
        const middle = (bin + 0.5) / BINS;
        const height = (76 * rows) / most;
        return (
          <rect
            key={bin}
            x={bin * 10 + 1}
            y={80 - height}
            width={8}
            height={height}
            fill={middle >= low && middle <= high ? "var(--mantine-primary-color-filled)" : "var(--c-text-3)"}
          >
            <title>{`${formatPercent(bin / BINS)} to ${formatPercent((bin + 1) / BINS)}: ${formatCount(rows)} rows`}</title>
          </rect>
        );
      })}
    </svg>
  );
}

function Suspects({ report }: { report: Report }) {
  if (!report.reads_answers)
    return (
      <Text size="sm" c="dimmed">
        The reward compares no place of the answer with the gold, so no gold can be suspected.
      </Text>
    );
  if (report.suspects.length === 0)
    return (
      <Text size="sm" c="dimmed">
        No gold is suspect: nowhere do enough samples agree with one another against it.
      </Text>
    );
  return (
    <section aria-label="Suspect golds">
      <Title order={3} mb={4}>
        Suspect golds
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {formatCount(report.number_of_suspects)} rows whose samples agree with one another against the gold.
        {report.number_of_suspects > report.suspects.length &&
          ` The ${formatCount(report.suspects.length)} likeliest are shown.`}
      </Text>
      <TableFrame label="Suspect golds">
        <Table miw={720}>
          <Table.Thead>
            <Table.Tr>
              {["Row", "Prompt", "Gold", "Samples say", "Votes", "Gold is wrong"].map(title => (
                <Table.Th key={title}>{title}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {report.suspects.map(one => (
              <Table.Tr key={one.row}>
                <Table.Td className="mono">{one.id}</Table.Td>
                <Table.Td maw={360}>
                  <Text size="sm" lineClamp={3}>
                    {one.prompt}
                  </Text>
                </Table.Td>
                <Table.Td>{one.gold}</Table.Td>
                <Table.Td>{one.answer}</Table.Td>
                <Table.Td className="num" title={one.answers.map(({ text, votes }) => `${text}: ${votes}`).join(", ")}>
                  {one.votes} of {one.samples}
                </Table.Td>
                <Table.Td className="num">{formatPercent(one.chance)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </TableFrame>
    </section>
  );
}
