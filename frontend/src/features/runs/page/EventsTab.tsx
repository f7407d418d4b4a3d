/** What happened, newest first. */
import { Badge, SegmentedControl, Table, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { Run, RunEvent } from "@/api/model";
import { eventsQuery } from "@/entities/runs/queries";
import { formatTime } from "@/lib/format";
import { Loaded } from "@/ui/Loaded";
import { Nothing } from "@/ui/Nothing";
import { ShowMore } from "@/ui/ShowMore";
import { TableFrame } from "@/ui/TableFrame";
import ui from "@/ui/ui.module.css";
import { describe, type Level } from "./describeEvent";

const KINDS = [
  { value: "", label: "All" },
  { value: "state", label: "States" },
  { value: "control", label: "Controls" },
  { value: "alert", label: "Alerts" },
  { value: "checkpoint", label: "Checkpoints" },
  { value: "eval", label: "Evaluations" },
  { value: "rubric_proposals", label: "Proposals" },
  { value: "log", label: "Log" },
];
const COLORS: Record<Level, string> = { info: "gray", good: "green", warn: "yellow", error: "red", control: "grape" };

export function EventsTab({ run }: { run: Run }) {
  const { kind } = useSearch({ from: "/app/runs/$runId" });
  const navigate = useNavigate({ from: "/runs/$runId" });
  const events = useInfiniteQuery(eventsQuery(run.id, kind));
  return (
    <>
      <div className={ui.toolbar} style={{ overflowX: "auto", flexWrap: "nowrap" }}>
        <SegmentedControl
          size="xs"
          data={KINDS}
          value={kind ?? ""}
          onChange={next =>
            void navigate({
              search: previous => ({ ...previous, kind: next || undefined }),
              replace: true,
              resetScroll: false,
            })
          }
        />
      </div>
      <Loaded query={events}>
        {({ pages }) => <EventTable rows={pages.flatMap(page => page.data).sort((a, b) => b.seq - a.seq)} />}
      </Loaded>
      <ShowMore query={events} />
    </>
  );
}

function EventTable({ rows }: { rows: RunEvent[] }) {
  if (rows.length === 0) return <Nothing>No events of this kind yet.</Nothing>;
  return (
    <TableFrame label="Events">
      <Table data-testid="events-table" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={150}>Time</Table.Th>
            <Table.Th w={60} ta="right">
              Step
            </Table.Th>
            <Table.Th w={110}>Kind</Table.Th>
            <Table.Th>What</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(event => {
            const { level, text, detail } = describe(event);
            return (
              <Table.Tr key={event.seq}>
                <Table.Td style={{ whiteSpace: "nowrap" }}>{formatTime(event.at)}</Table.Td>
                <Table.Td ta="right">{event.step ?? ""}</Table.Td>
                <Table.Td>
                  <Badge color={COLORS[level]}>{event.kind}</Badge>
                </Table.Td>
                <Table.Td style={{ overflowWrap: "anywhere" }}>
                  {text}
                  {detail && (
                    <Text size="xs" c="dimmed">
                      {detail}
                    </Text>
                  )}
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </TableFrame>
  );
}
