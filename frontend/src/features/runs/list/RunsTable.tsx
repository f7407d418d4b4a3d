import { Anchor, Checkbox, Group, Paper, Progress, Table, Text, VisuallyHidden } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Run } from "@/api/model";
import { MOST_COMPARED } from "@/entities/runs/search";
import { samples } from "@/entities/runs/objective";
import { isAtWork, isStill } from "@/entities/runs/states";
import { dropTarget } from "@/lib/dropTarget";
import { DASH, formatAgo, formatDuration, formatNumber, percentOf } from "@/lib/format";
import { HealthMark } from "@/ui/HealthMark";
import { StateBadge } from "@/ui/StateBadge";
import { TableFrame } from "@/ui/TableFrame";
import { ObjectiveLabel } from "@/features/runs/parts/ObjectiveLabel";
import { FigureTrend } from "@/features/runs/parts/FigureTrend";
import classes from "./list.module.css";

/** Type of what is dragged, so that nothing else is taken for a run. */
const DRAGGED_RUN = "application/x-dressage-run";

interface Props {
  runs: Run[];
  /** Ids of the runs that are to be compared. */
  chosen: string[];
  onChoose: (id: string) => void;
}

export function RunsTable({ runs, chosen, onChoose }: Props) {
  const narrow = useMediaQuery("(max-width: 48em)");
  if (narrow) return <RunCards {...{ runs, chosen, onChoose }} />;
  return (
    <TableFrame label="Runs">
      <Table highlightOnHover data-testid="runs-table">
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={36}>
              <VisuallyHidden>To compare</VisuallyHidden>
            </Table.Th>
            <Table.Th>Run</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th w={190}>Progress</Table.Th>
            <Table.Th>{runs.every(samples) ? "Reward" : "Result"}</Table.Th>
            <Table.Th ta="right">Held-out</Table.Th>
            <Table.Th ta="right">Time left</Table.Th>
            <Table.Th>Policy</Table.Th>
            <Table.Th>By</Table.Th>
            <Table.Th ta="right">Created</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {runs.map(run => (
            <RunRow key={run.id} run={run}>
              <Table.Td>
                <Choice {...{ run, chosen, onChoose }} />
              </Table.Td>
              <Table.Td maw={280}>
                <RunLink run={run} />
              </Table.Td>
              <Table.Td title={run.state_reason || undefined}>
                <StateBadge state={run.state} />
                <HealthMark health={run.health} />
              </Table.Td>
              <Table.Td>
                <RunProgress run={run} />
              </Table.Td>
              <Table.Td>
                <FigureTrend run={run} />
              </Table.Td>
              <Table.Td ta="right">{formatNumber(run.summary.eval, 3)}</Table.Td>
              <Table.Td ta="right">{left(run)}</Table.Td>
              <Table.Td className="mono">{run.policy}</Table.Td>
              <Table.Td maw={160}>
                <Text size="sm" truncate>
                  {run.created_by}
                </Text>
              </Table.Td>
              <Table.Td ta="right" title={run.created_at} style={{ whiteSpace: "nowrap" }}>
                {formatAgo(run.created_at)}
              </Table.Td>
            </RunRow>
          ))}
        </Table.Tbody>
      </Table>
    </TableFrame>
  );
}

/** Dragging it onto another run's row compares both. The checkboxes do the same from the keyboard. */
function RunRow({ run, children }: { run: Run; children: ReactNode }) {
  const navigate = useNavigate();
  const [isOver, setOver] = useState(false);
  const [isDragged, setDragged] = useState(false);
  const compare = (id: string) => {
    if (id !== run.id) void navigate({ to: "/runs/compare", search: { runs: `${run.id},${id}` } });
  };
  return (
    <Table.Tr
      className={classes.row}
      data-over={(isOver && !isDragged) || undefined}
      data-dragged={isDragged || undefined}
      draggable
      onDragStart={event => {
        event.dataTransfer.setData(DRAGGED_RUN, run.id);
        setDragged(true);
      }}
      onDragEnd={() => setDragged(false)}
      {...dropTarget(DRAGGED_RUN, setOver, compare)}
    >
      {children}
    </Table.Tr>
  );
}

/** One card per run, for narrow screens. */
function RunCards({ runs, chosen, onChoose }: Props) {
  return (
    <div className={classes.cards} data-testid="runs-table">
      {runs.map(run => (
        <Paper key={run.id} p="sm" className={classes.card}>
          <div className={classes.cardHead}>
            <div className={classes.choice}>
              <Choice {...{ run, chosen, onChoose }} />
              <RunLink run={run} />
            </div>
            <StateBadge state={run.state} />
          </div>
          <HealthMark health={run.health} />
          <RunProgress run={run} />
          <div className={classes.cardFoot}>
            <FigureTrend run={run} />
            <Text size="xs" c="dimmed" className="num">
              {left(run) === DASH ? formatAgo(run.created_at) : `${left(run)} left`}
            </Text>
          </div>
        </Paper>
      ))}
    </div>
  );
}

function Choice({ run, chosen, onChoose }: Omit<Props, "runs"> & { run: Run }) {
  const isChosen = chosen.includes(run.id);
  const isFull = !isChosen && chosen.length >= MOST_COMPARED;
  return (
    <Checkbox
      size="xs"
      aria-label={`Compare ${run.name}`}
      title={isFull ? `At most ${MOST_COMPARED} runs are compared` : undefined}
      checked={isChosen}
      disabled={isFull}
      onChange={() => onChoose(run.id)}
    />
  );
}

function RunLink({ run }: { run: Run }) {
  return (
    <Group gap={6} wrap="nowrap" miw={0}>
      <Anchor component={Link} to={`/runs/${run.id}`} fw={550} size="sm" c="var(--c-text)" truncate title={run.name}>
        {run.name}
      </Anchor>
      <ObjectiveLabel run={run} />
    </Group>
  );
}

function RunProgress({ run }: { run: Run }) {
  if (run.state === "queued") {
    return (
      <Text size="xs" c="dimmed" lineClamp={2} title={run.state_reason} data-testid="waiting">
        {run.state_reason || "waiting"}
      </Text>
    );
  }
  return (
    <div>
      <Progress
        value={percentOf(run.step, run.total_steps)}
        size={4}
        aria-label={`Step ${run.step} of ${run.total_steps}`}
        color={run.state === "failed" ? "red" : isStill(run.state) ? "yellow" : "petrol"}
      />
      <Text size="xs" c="dimmed" mt={3} className="num">
        {run.step.toLocaleString("en-GB")} / {run.total_steps.toLocaleString("en-GB")}
      </Text>
    </div>
  );
}

function left(run: Run): string {
  return isAtWork(run.state) ? formatDuration(run.summary.eta_seconds) : DASH;
}
