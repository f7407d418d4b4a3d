/** All runs of the team, live. */
import { Button, Group, SegmentedControl, Select, Text, TextInput } from "@mantine/core";
import { IconChartLine, IconPlus, IconRoute, IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import type { Run, RunState } from "@/api/model";
import { type Objective, OBJECTIVES, runObjective, samples } from "@/entities/runs/objective";
import { runsQuery } from "@/entities/runs/queries";
import { useCan } from "@/features/session/session";
import { useTeamStream } from "@/features/stream/useTeamStream";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { Nothing } from "@/ui/Nothing";
import { PageHeader } from "@/ui/PageHeader";
import { TableSkeleton } from "@/ui/TableSkeleton";
import { DemoRunButton } from "@/features/runs/parts/DemoRunButton";
import { RunsTable } from "./RunsTable";

const STATES: { value: string; label: string }[] = [
  { value: "", label: "All" },
  { value: "running", label: "Running" },
  { value: "paused", label: "Paused" },
  { value: "suspended", label: "Suspended" },
  { value: "queued", label: "Queued" },
  { value: "draft", label: "Drafts" },
  { value: "succeeded", label: "Succeeded" },
  { value: "failed", label: "Failed" },
  { value: "cancelled", label: "Cancelled" },
];

const KINDS = [
  { value: "", label: "All objectives" },
  ...OBJECTIVES.map(({ type, title }) => ({ value: type as string, label: title })),
];

export function RunsPage() {
  const { state, q, objective } = useSearch({ from: "/app/runs" });
  const navigate = useNavigate({ from: "/runs" });
  const runs = useQuery(runsQuery(state));
  const [chosen, setChosen] = useState<string[]>([]);
  const choose = (id: string) => setChosen(chosen.includes(id) ? chosen.filter(one => one !== id) : [...chosen, id]);
  const stream = useTeamStream();
  const editor = useCan("editor");
  const setState = (next: string | null) =>
    void navigate({ search: previous => ({ ...previous, state: (next || undefined) as RunState | undefined }) });
  const all: Run[] = runs.data?.data ?? [];
  const found = all
    .filter(run => !q || matches(q, [run.name, run.id, run.policy]))
    .filter(run => !objective || runObjective(run) === objective);
  // Choosing among one kind would be no choice.
  const isMixed = objective !== undefined || !all.every(samples);
  const isEmpty = runs.isSuccess && runs.data.data.length === 0 && !state;
  return (
    <>
      <PageHeader
        title="Runs"
        actions={
          <>
            {!isEmpty && <CompareButton chosen={chosen} />}
            {editor && (
              <Button component={Link} to="/runs/new" leftSection={<IconPlus size={15} />}>
                New run
              </Button>
            )}
          </>
        }
      />
      {!isEmpty && (
        <Group mb="sm" gap="sm">
          <TextInput
            aria-label="Search runs"
            placeholder="Name, id or policy"
            leftSection={<IconSearch size={14} />}
            value={q ?? ""}
            onChange={event => {
              const next = event.currentTarget.value || undefined;
              void navigate({ search: previous => ({ ...previous, q: next }), replace: true });
            }}
            w={{ base: "100%", xs: 240 }}
          />
          <SegmentedControl size="xs" data={STATES} value={state ?? ""} onChange={setState} visibleFrom="md" />
          <Select
            aria-label="State"
            data={STATES}
            value={state ?? ""}
            onChange={setState}
            allowDeselect={false}
            hiddenFrom="md"
            w={{ base: "100%", xs: 160 }}
          />
          {isMixed && (
            <Select
              size="xs"
              aria-label="Objective"
              data={KINDS}
              value={objective ?? ""}
              onChange={next =>
                void navigate({
                  search: previous => ({ ...previous, objective: (next || undefined) as Objective | undefined }),
                })
              }
              allowDeselect={false}
              w={{ base: "100%", xs: 160 }}
            />
          )}
          {stream === "lost" && (
            <Text size="xs" c="var(--c-warn)" role="status">
              Connection lost; reconnecting
            </Text>
          )}
        </Group>
      )}
      {runs.isPending && <TableSkeleton rows={8} />}
      {runs.isError && <ErrorState error={runs.error} retry={() => void runs.refetch()} />}
      {isEmpty && (
        <EmptyState
          icon={<IconRoute size={40} stroke={1.3} />}
          title="No runs yet"
          action={
            editor && (
              <Group justify="center">
                <DemoRunButton />
                <Button variant="default" component={Link} to="/runs/new">
                  Start from a preset
                </Button>
              </Group>
            )
          }
        >
          A run trains a policy on your prompts and your reward. The demo run shows it in a few minutes: a small policy
          discovers that thinking pays.
        </EmptyState>
      )}
      {runs.isSuccess && !isEmpty && found.length === 0 && (
        <Nothing>
          No runs match this filter.{" "}
          <Link to="/runs" search={{}} style={{ color: "var(--c-accent)" }}>
            Show all
          </Link>
        </Nothing>
      )}
      {found.length > 0 && <RunsTable runs={found} chosen={chosen} onChoose={choose} />}
    </>
  );
}

/** Opens the runs that are ticked; with none it opens the page on which they are chosen. */
function CompareButton({ chosen }: { chosen: string[] }) {
  return (
    <Button
      component={Link}
      to={`/runs/compare${chosen.length > 0 ? `?runs=${chosen.join(",")}` : ""}`}
      variant="default"
      leftSection={<IconChartLine size={15} />}
    >
      {chosen.length > 0 ? `Compare ${chosen.length}` : "Compare"}
    </Button>
  );
}

function matches(q: string, fields: string[]): boolean {
  return fields.some(field => field.toLowerCase().includes(q.toLowerCase()));
}
