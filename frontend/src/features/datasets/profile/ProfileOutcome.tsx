/** What a profile has found: pass rates with a band, dead groups, and suspects; and versions that are made of it. */
import { Alert, Button, Group, Paper, RangeSlider, Stack, Text, Title } from "@mantine/core";
import { useState } from "react";
import * as api from "@/api/client";
import type { Dataset, Profile } from "@/api/model";
import { useCan } from "@/features/session/session";
import { formatCount, formatPercent } from "@/lib/format";
import { useRequestKey } from "@/lib/useRequestKey";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";
import { Facts } from "@/ui/Facts";
import { Suspects } from "./Suspects";
import { BINS, histogram, partsOf } from "./pass-rates";
import { useOpenMade } from "./useOpenMade";

type Report = NonNullable<Profile["report"]>;

interface Props {
  profile: Profile;
  report: Report;
  dataset: Dataset;
}

const ENDED: Record<string, string> = {
  settled: "All rows are settled",
  budget: "Budget spent",
  time: "Time limit reached",
  most: "Uncertain rows have all their samples",
  errors: "Rewards could not be computed",
  lost: "Workers were lost",
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
          ["Reward", `${profile.reward}, correct from ${profile.threshold}`],
          ["Samples", formatCount(report.asked)],
          ["Rows", formatCount(report.rows)],
          ["Uncertain rows", formatPercent(report.error, 1)],
          ["Stop reason", ENDED[report.stopped] ?? report.stopped],
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
              Create a version of the band
            </Button>
          )}
        </Group>
      </Paper>
      {make.error !== null && <ErrorState error={make.error} />}
      <Paper p="md" component="section" aria-label="Groups without signal">
        <Title order={3} mb={4}>
          Groups without signal
        </Title>
        <Text size="sm" c="dimmed" mb="sm">
          Share of groups whose samples would be all correct or all incorrect if rows were drawn uniformly.
        </Text>
        <Facts
          facts={report.dead_shares.map(({ group_size, share }) => [
            `Groups of ${group_size}`,
            formatPercent(share, 1),
          ])}
        />
      </Paper>
      <Suspects profile={profile} report={report} dataset={dataset} />
      {editor && report.number_of_suspects > 0 && (
        <Group justify="flex-end">
          <Text size="sm" c="dimmed">
            Gold answers confirmed by a person stay.
          </Text>
          <Button variant="default" loading={make.isPending} onClick={() => make.mutate({ without_suspects: true })}>
            Create a version without suspects
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function useVersions(profile: Profile, dataset: Dataset) {
  const openMade = useOpenMade();
  const keyFor = useRequestKey();
  return useSubmit({
    mutationFn: (kept: { min_pass_rate?: number; max_pass_rate?: number; without_suspects?: boolean }) => {
      const body = { ...kept, latest: dataset.latest_version.number };
      return api.deriveFromProfile(profile.id, body, { "Idempotency-Key": keyFor(body) });
    },
    onSuccess: openMade,
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
