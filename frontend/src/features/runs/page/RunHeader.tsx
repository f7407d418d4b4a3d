import { ActionIcon, Anchor, Button, Group, Menu, Text, TextInput, Title } from "@mantine/core";
import {
  IconChartLine,
  IconCopy,
  IconDots,
  IconFileText,
  IconGitFork,
  IconPencil,
  IconRoute,
  IconTerminal2,
} from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { type FormEvent, useEffect, useState } from "react";
import * as api from "@/api/client";
import type { Run } from "@/api/model";
import { curl } from "@/api/snippets";
import { usePins } from "@/features/charts/usePins";
import { onCluster } from "@/entities/clusters/words";
import { useMakeReport } from "@/entities/reports/useMakeReport";
import { samples } from "@/entities/runs/objective";
import { metricEntriesQuery } from "@/entities/runs/queries";
import { reportOf } from "@/features/runs/overlay/reportOf";
import { ObjectiveLabel } from "@/features/runs/parts/ObjectiveLabel";
import { useCan } from "@/features/session/session";
import { useTourSeen } from "@/features/tour/useTourSeen";
import { formatAgo } from "@/lib/format";
import { useSubmit } from "@/lib/useSubmit";
import { HealthMark } from "@/ui/HealthMark";
import { StateBadge } from "@/ui/StateBadge";
import { toast, toastError } from "@/ui/toast";
import classes from "./page.module.css";

const EXAMPLE_CONTROL = {
  rl: { target: "thinking.budget", value: 64 },
  rows: { target: "optimizer.learning_rate", value: 1e-5 },
};

/** Pins are read here, and changed on the charts. */
const NO_CHANGE = () => {};

export function RunHeader({ run }: { run: Run }) {
  const [editing, setEditing] = useState(false);
  const editor = useCan("editor");
  const { seen } = useTourSeen();
  const report = useMakeReport();
  const search = useSearch({ from: "/app/runs/$runId" });
  const { pins } = usePins(search.pins, NO_CHANGE);
  const names = useQuery(metricEntriesQuery(run.id));
  useEffect(() => {
    document.title = `${run.name} · Dressage`;
  }, [run.name]);
  const copy = (text: string, what: string) =>
    void navigator.clipboard.writeText(text).then(
      () => toast(`${what} copied.`),
      error => toastError("Nothing was copied", error),
    );
  const parent = typeof run.parent === "object" && run.parent !== null ? run.parent : null;
  return (
    <div className={classes.header}>
      <div style={{ minWidth: 0, flex: "1 1 200px" }}>
        <Group gap={10} wrap="nowrap">
          {editing ? (
            <Rename run={run} onDone={() => setEditing(false)} />
          ) : (
            <Title order={1} style={{ overflow: "hidden", textOverflow: "ellipsis", whiteSpace: "nowrap" }}>
              {run.name}
            </Title>
          )}
          <ObjectiveLabel run={run} />
          <StateBadge state={run.state} size="md" />
        </Group>
        <HealthMark health={run.health} runId={run.id} />
        <Text size="xs" c="dimmed" mt={2} truncate>
          <span className="mono">{run.policy}</span> · by {run.created_by} · {formatAgo(run.created_at)}
          {run.attempt > 1 && ` · attempt ${run.attempt}`}
          {onCluster(run.placed_on)}
          {parent && (
            <>
              {" "}
              · from{" "}
              <Anchor component={Link} to={`/runs/${parent.run}`} size="xs" underline="always">
                {parent.name ?? parent.run}
              </Anchor>
              {typeof parent.step === "number" && ` at step ${parent.step}`}
            </>
          )}
        </Text>
      </div>
      <Group gap={6} wrap="nowrap">
        {!seen && samples(run) && (
          <Button
            component={Link}
            to={`/runs/${run.id}?tour=1`}
            size="xs"
            variant="light"
            leftSection={<IconRoute size={14} />}
            data-testid="take-tour"
          >
            Tour
          </Button>
        )}
        {editor && (
          <Button
            component={Link}
            to={`/runs/new?fork=${run.id}`}
            size="xs"
            variant="default"
            leftSection={<IconGitFork size={14} />}
          >
            Fork
          </Button>
        )}
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon variant="default" size={30} aria-label="More actions">
              <IconDots size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {editor && (
              <Menu.Item leftSection={<IconPencil size={15} />} onClick={() => setEditing(true)}>
                Rename
              </Menu.Item>
            )}
            <Menu.Item
              leftSection={<IconChartLine size={15} />}
              component={Link}
              to={`/runs/compare?runs=${parent ? `${parent.run},` : ""}${run.id}`}
            >
              {parent ? "Compare with its parent" : "Compare with other runs"}
            </Menu.Item>
            {editor && (
              <Menu.Item
                leftSection={<IconFileText size={15} />}
                disabled={report.isPending || names.isPending} // without names it would have no chart
                onClick={() => report.mutate(reportOf(run, search, pins, names.data ?? []))}
              >
                Create report
              </Menu.Item>
            )}
            {samples(run) && (
              <Menu.Item leftSection={<IconRoute size={15} />} component={Link} to={`/runs/${run.id}?tour=1`}>
                Tour of this page
              </Menu.Item>
            )}
            <Menu.Item leftSection={<IconCopy size={15} />} onClick={() => copy(run.id, "The id was")}>
              Copy run id
            </Menu.Item>
            <Menu.Item
              leftSection={<IconTerminal2 size={15} />}
              onClick={() => copy(curl("GET", `/runs/${run.id}`), "The command was")}
            >
              Copy as curl
            </Menu.Item>
            <Menu.Item
              leftSection={<IconTerminal2 size={15} />}
              onClick={() =>
                copy(
                  curl(
                    "POST",
                    `/runs/${run.id}/controls`,
                    { ...EXAMPLE_CONTROL[samples(run) ? "rl" : "rows"], reason: "" },
                    [`If-Match: "${run.revision}"`],
                  ),
                  "The command was",
                )
              }
            >
              Copy a control as curl
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Group>
    </div>
  );
}

function Rename({ run, onDone }: { run: Run; onDone: () => void }) {
  const [name, setName] = useState(run.name);
  const client = useQueryClient();
  const rename = useSubmit({
    mutationFn: () => api.updateRun(run.id, { name }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["run", run.id], exact: true });
      onDone();
    },
    onError: error => toastError("The run was not renamed", error),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    rename.mutate();
  };
  return (
    <form onSubmit={submit} style={{ flex: 1, maxWidth: 420 }}>
      <TextInput
        value={name}
        onChange={event => setName(event.currentTarget.value)}
        onBlur={onDone}
        onKeyDown={event => event.key === "Escape" && onDone()}
        aria-label="Run name"
        ref={input => input?.focus()}
        maxLength={120}
        disabled={rename.isPending}
      />
    </form>
  );
}
