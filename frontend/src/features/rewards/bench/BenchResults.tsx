/** Results of a job: summaries, flagged probes, and the samples side by side. */
import { Alert, Badge, Group, List, SegmentedControl, Stack, Text, Title } from "@mantine/core";
import { IconShieldExclamation } from "@tabler/icons-react";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { BenchFlag, BenchJob } from "@/api/model";
import { benchRows, counts, flagLines, SHOWN, type Shown, shownRows } from "./bench";
import { BenchSummaries } from "./BenchSummaries";
import { BenchTable } from "./BenchTable";
import { Rescored } from "./Rescored";
import { SampleDrawer } from "./SampleDrawer";

const LABELS: Record<Shown, string> = {
  all: "All",
  flips: "Changed verdicts",
  errors: "Errors",
  probes: "Probes",
  flagged: "Flagged",
};

export function BenchResults({ job }: { job: BenchJob }) {
  const search = useSearch({ from: "/app/rewards/$rewardId" });
  const navigate = useNavigate({ from: "/rewards/$rewardId" });
  const [open, setOpen] = useState<string | null>(null);
  const rows = useMemo(() => benchRows(job), [job]);
  const found = counts(rows);
  const shown = SHOWN.find(one => one === search.show) ?? "all";
  const visible = shownRows(rows, shown);
  return (
    <Stack gap="md">
      <BenchSummaries job={job} />
      <Rescored job={job} onOpen={setOpen} />
      <Flags flags={job.flags} />
      <section aria-label="Samples">
        <Group justify="space-between" gap="xs" mb="xs">
          <Group gap="xs">
            <Title order={2}>Samples</Title>
            {job.definitions.length === 2 && (
              <Badge color={found.flips > 0 ? "grape" : "gray"} data-testid="flip-count">
                {found.flips} {found.flips === 1 ? "changed verdict" : "changed verdicts"}
              </Badge>
            )}
          </Group>
          <SegmentedControl
            size="xs"
            aria-label="Filter samples"
            data={SHOWN.filter(one => one !== "flips" || job.definitions.length === 2).map(one => ({
              value: one,
              label: `${LABELS[one]} ${found[one]}`,
            }))}
            value={shown}
            onChange={next =>
              void navigate({
                search: previous => ({ ...previous, show: next === "all" ? undefined : next }),
                replace: true,
                resetScroll: false,
              })
            }
            style={{ maxWidth: "100%", overflowX: "auto" }}
          />
        </Group>
        <BenchTable job={job} rows={visible} shown={shown} onOpen={row => setOpen(row.sample.id)} />
      </section>
      <SampleDrawer job={job} row={rows.find(row => row.sample.id === open) ?? null} onClose={() => setOpen(null)} />
    </Stack>
  );
}

function Flags({ flags }: { flags: BenchFlag[] }) {
  const warnings = flags.filter(flag => flag.severity === "warn");
  if (flags.length === 0) return null;
  return (
    <Alert
      color={warnings.length > 0 ? "yellow" : "petrol"}
      icon={<IconShieldExclamation size={18} />}
      title={warnings.length > 0 ? "Answers that solve nothing are rewarded" : "Check these"}
      data-testid="bench-flags"
    >
      <List size="sm" spacing={2} listStyleType="disc">
        {flagLines(flags).map(({ label, detail, rows, severity }) => (
          <List.Item key={label + detail}>
            <Text span inherit c={severity === "warn" ? undefined : "dimmed"}>
              <span className="mono">{label}</span>: {detail}
              {rows > 1 && ` On ${rows} rows.`}
            </Text>
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
