/** The history of every change, with the two ways back: revert and rewind. */
import { Badge, Button, Group, Table, Text, Tooltip, VisuallyHidden } from "@mantine/core";
import { modals } from "@mantine/modals";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Control, ControlState, Run } from "@/api/model";
import { controlsQuery } from "@/features/runs/data/queries";
import { isLive } from "@/features/runs/data/states";
import { useCan } from "@/features/session/session";
import { DASH, formatTime, formatValue } from "@/lib/format";
import { Loaded } from "@/ui/Loaded";
import { Nothing } from "@/ui/Nothing";
import { TableFrame } from "@/ui/TableFrame";
import { toast, toastError } from "@/ui/toast";
import { targetLabel } from "./labels";
import { useControlAct } from "./useSteer";

const COLORS: Record<ControlState, string> = {
  staged: "yellow",
  applied: "grape",
  settled: "green",
  rejected: "red",
  cancelled: "gray",
};

export function ControlsTab({ run }: { run: Run }) {
  const controls = useQuery(controlsQuery(run.id));
  return (
    <Loaded query={controls}>
      {({ data }) =>
        data.length === 0 ? (
          <Nothing>Nobody has steered this run yet.</Nothing>
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
                    <Table.Tr key={control.id} data-testid="control-row" data-state={control.state}>
                      <Table.Td ta="right">{control.revision}</Table.Td>
                      <Table.Td>
                        {targetLabel(control.target)}
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
                        <Actions run={run} control={control} />
                      </Table.Td>
                    </Table.Tr>
                  ))}
              </Table.Tbody>
            </Table>
          </TableFrame>
        )
      }
    </Loaded>
  );
}

function Actions({ run, control }: { run: Run; control: Control }) {
  const act = useControlAct(run.id);
  const operator = useCan("operator");
  const navigate = useNavigate();
  if (!operator) return null;
  const inEffect = control.state === "applied" || control.state === "settled";
  const send = (name: "cancel" | "revert" | "rewind") =>
    act.mutate(
      { control, act: name, revision: run.revision },
      {
        onError: error => toastError("Nothing was changed", error),
        onSuccess: made => {
          if (name !== "rewind") return;
          toast("A draft run has been made from the checkpoint before this change.");
          void navigate({ to: "/runs/$runId", params: { runId: made.id } });
        },
      },
    );
  const rewind = () =>
    modals.openConfirmModal({
      title: "Rewind to before this change?",
      children: (
        <Text size="sm">
          A new run goes on from the checkpoint before {targetLabel(control.target).toLowerCase()} was changed, with the
          optimizer and the curriculum of that moment. This run and its history stay as they are.
        </Text>
      ),
      labels: { confirm: "Make the rewound run", cancel: "Not now" },
      onConfirm: () => send("rewind"),
    });
  return (
    <Group gap={4} wrap="nowrap" justify="flex-end">
      {control.state === "staged" && (
        <Button size="compact-xs" variant="default" loading={act.isPending} onClick={() => send("cancel")}>
          Cancel
        </Button>
      )}
      {inEffect && isLive(run.state) && (
        <Tooltip label={`Set it back to ${formatValue(control.before)}; the weights keep what they have learned`}>
          <Button size="compact-xs" variant="default" loading={act.isPending} onClick={() => send("revert")}>
            Revert
          </Button>
        </Tooltip>
      )}
      {inEffect && (
        <Button size="compact-xs" variant="default" disabled={act.isPending} onClick={rewind}>
          Rewind
        </Button>
      )}
    </Group>
  );
}
