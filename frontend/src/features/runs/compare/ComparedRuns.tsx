/** The runs that are compared: each with its line, its state, and a way to hide or to leave it out. */
import { ActionIcon, Anchor, Button, Group, Paper, Select, Text, Tooltip } from "@mantine/core";
import { IconEye, IconEyeOff, IconGitFork, IconPlus, IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Run } from "@/api/model";
import { LineSwatch } from "@/features/charts/ChartLegend";
import { runsQuery } from "@/entities/runs/queries";
import { MOST_COMPARED } from "@/entities/runs/search";
import { StateBadge } from "@/ui/StateBadge";
import classes from "./compare.module.css";
import { ObjectiveLabel } from "@/features/runs/parts/ObjectiveLabel";
import { runStyle } from "@/features/runs/overlay/overlay";

interface Props {
  runs: Run[];
  /** Ids of runs that are not there, or not for this team. */
  missing: string[];
  hidden: ReadonlySet<string>;
  onHide: (id: string) => void;
  onAdd: (id: string) => void;
  onRemove: (id: string) => void;
}

export function ComparedRuns({ runs, missing, hidden, onHide, onAdd, onRemove }: Props) {
  return (
    <Paper p="sm" mb="sm" component="section" aria-label="Compared runs">
      <ul className={classes.runs} data-testid="compared-runs">
        {runs.map((run, place) => {
          const isHidden = hidden.has(run.id);
          return (
            <li key={run.id} className={classes.run} data-run={run.id} data-hidden={isHidden || undefined}>
              <LineSwatch line={{ key: run.id, label: run.name, ...runStyle(place) }} />
              <Anchor component={Link} to={`/runs/${run.id}`} size="sm" c="var(--c-text)" className={classes.name}>
                {run.name}
              </Anchor>
              <ObjectiveLabel run={run} />
              <StateBadge state={run.state} />
              <Text size="xs" c="dimmed" className="num">
                step {run.step.toLocaleString("en-GB")}
              </Text>
              <Group gap={2} ml="auto" wrap="nowrap">
                <Parent run={run} runs={runs} onAdd={onAdd} />
                <Tooltip label={isHidden ? "Show lines" : "Hide lines"}>
                  <ActionIcon
                    size="sm"
                    variant="subtle"
                    aria-label={`Hide ${run.name}`}
                    aria-pressed={isHidden}
                    onClick={() => onHide(run.id)}
                  >
                    {isHidden ? <IconEyeOff size={14} /> : <IconEye size={14} />}
                  </ActionIcon>
                </Tooltip>
                <Remove name={run.name} onClick={() => onRemove(run.id)} />
              </Group>
            </li>
          );
        })}
        {missing.map(id => (
          <li key={id} className={classes.run} data-run={id}>
            <Text size="sm" c="var(--c-bad)">
              There is no run <span className="mono">{id}</span> in this team.
            </Text>
            <Group gap={2} ml="auto">
              <Remove name={id} onClick={() => onRemove(id)} />
            </Group>
          </li>
        ))}
      </ul>
      <AddRun taken={[...runs.map(run => run.id), ...missing]} onAdd={onAdd} />
    </Paper>
  );
}

function Remove({ name, onClick }: { name: string; onClick: () => void }) {
  return (
    <Tooltip label="Remove">
      <ActionIcon size="sm" variant="subtle" aria-label={`Remove ${name}`} onClick={onClick}>
        <IconX size={14} />
      </ActionIcon>
    </Tooltip>
  );
}

/** Adds this run's parent, if it is not yet compared. */
function Parent({ run, runs, onAdd }: Pick<Props, "runs" | "onAdd"> & { run: Run }) {
  const { parent } = run;
  if (!parent || runs.some(one => one.id === parent.run) || runs.length >= MOST_COMPARED) return null;
  return (
    <Button
      size="compact-xs"
      variant="subtle"
      leftSection={<IconGitFork size={13} />}
      title={`Add its parent ${parent.name}`}
      onClick={() => onAdd(parent.run)}
    >
      Parent
    </Button>
  );
}

function AddRun({ taken, onAdd }: { taken: string[]; onAdd: (id: string) => void }) {
  const runs = useQuery(runsQuery());
  const others = (runs.data?.data ?? []).filter(run => !taken.includes(run.id));
  const isFull = taken.length >= MOST_COMPARED;
  const placeholder = isFull ? `At most ${MOST_COMPARED} runs` : "Add a run";
  return (
    <Select
      mt={taken.length > 0 ? 8 : 0}
      size="xs"
      w={{ base: "100%", xs: 320 }}
      aria-label="Add a run"
      placeholder={runs.isError ? "The runs could not be loaded" : placeholder}
      leftSection={<IconPlus size={14} />}
      data={others.map(run => ({ value: run.id, label: `${run.name} · ${run.state}, step ${run.step}` }))}
      value={null}
      onChange={id => id && onAdd(id)}
      searchable
      disabled={isFull}
      nothingFoundMessage={runs.isPending ? "Loading" : "No matching runs"}
      limit={50}
    />
  );
}
