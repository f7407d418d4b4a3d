/** The history of all changes, with revert and rewind. */
import { Badge, Table, Text, Tooltip, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Fragment, useState } from "react";
import type { ControlState, Run } from "@/api/model";
import { EffectCard } from "@/features/effects/EffectCard";
import { controlsQuery } from "@/entities/runs/queries";
import { DASH, formatTime, formatValue } from "@/lib/format";
import { Loaded } from "@/ui/Loaded";
import { Nothing } from "@/ui/Nothing";
import { TableFrame } from "@/ui/TableFrame";
import { ControlActions } from "./ControlActions";
import { targetLabel } from "./labels";

const COLORS: Record<ControlState, string> = {
  staged: "yellow",
  applied: "grape",
  settled: "green",
  rejected: "red",
  cancelled: "gray",
};

export function ControlsTab({ run }: { run: Run }) {
  const controls = useQuery(controlsQuery(run.id));
  const [open, setOpen] = useState<string | null>(null);
  return (
    <Loaded query={controls}>
      {({ data }) =>
        data.length === 0 ? (
          <Nothing>No controls applied to this run yet.</Nothing>
        ) : (
          <TableFrame label="Controls">
            <Table data-testid="controls-table">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th ta="right">Rev.</Table.Th>
                  <Table.Th>What</Table.Th>
                  <Table.Th>Before → after</Table.Th>
                  <Table.Th>State</Table.Th>
                  <Table.Th ta="right">Applied</Table.Th>
                  <Table.Th ta="right">Settled</Table.Th>
                  <Table.Th>Who and why</Table.Th>
                  <Table.Th>When</Table.Th>
                  <Table.Th pos="relative">
                    <VisuallyHidden>Actions</VisuallyHidden>
                  </Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {[...data]
                  .sort((a, b) => b.revision - a.revision)
                  .map(control => (
                    <Fragment key={control.id}>
                      <Table.Tr data-testid="control-row" data-state={control.state}>
                        <Table.Td ta="right">{control.revision}</Table.Td>
                        <Table.Td>
                          <UnstyledButton
                            fz="sm"
                            aria-expanded={open === control.id}
                            onClick={() => setOpen(open === control.id ? null : control.id)}
                            title="Show effect"
                          >
                            <span aria-hidden="true">{open === control.id ? "▾" : "▸"}</span>{" "}
                            {targetLabel(control.target)}
                          </UnstyledButton>
                          <Text size="xs" c="dimmed" className="mono">
                            {control.target}
                          </Text>
                        </Table.Td>
                        <Table.Td style={{ whiteSpace: "nowrap" }}>
                          {formatValue(control.before)} → {formatValue(control.value)}
                        </Table.Td>
                        <Table.Td>
                          <Tooltip label={control.error ?? ""} disabled={!control.error}>
                            <Badge color={COLORS[control.state]}>{control.state}</Badge>
                          </Tooltip>
                        </Table.Td>
                        <Table.Td ta="right">{control.applied_step ?? DASH}</Table.Td>
                        <Table.Td ta="right">{control.settled_step ?? DASH}</Table.Td>
                        <Table.Td maw={220}>
                          {control.actor}
                          {control.reason && (
                            <Text size="xs" c="dimmed">
                              {control.reason}
                            </Text>
                          )}
                        </Table.Td>
                        <Table.Td style={{ whiteSpace: "nowrap" }}>{formatTime(control.created_at)}</Table.Td>
                        <Table.Td>
                          <ControlActions run={run} controls={[control]} />
                        </Table.Td>
                      </Table.Tr>
                      {open === control.id && (
                        <Table.Tr data-testid="control-effect">
                          <Table.Td colSpan={9}>
                            <div style={{ position: "sticky", left: 10, maxWidth: "min(620px, calc(100vw - 72px))" }}>
                              <EffectCard run={run} control={control} />
                            </div>
                          </Table.Td>
                        </Table.Tr>
                      )}
                    </Fragment>
                  ))}
              </Table.Tbody>
            </Table>
          </TableFrame>
        )
      }
    </Loaded>
  );
}
