/** Incidents of a run: open ones first, resolved ones below. */
import { Stack, Text } from "@mantine/core";
import { IconHeartbeat } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { Run } from "@/api/model";
import { EmptyState } from "@/ui/EmptyState";
import { Loaded } from "@/ui/Loaded";
import { IncidentCard } from "./IncidentCard";
import { incidentsQuery } from "./queries";

interface Props {
  run: Run;
  /** Opens what an element of the controls' side shows: a control or a guard, by its selector. */
  onShow: (selector: string) => void;
}

export function IncidentsTab({ run, onShow }: Props) {
  return (
    <Loaded query={useQuery(incidentsQuery(run))}>
      {({ data }) => {
        const lasting = data.filter(one => one.state === "open");
        const over = data.filter(one => one.state === "over");
        if (data.length === 0) return <Healthy run={run} />;
        return (
          <Stack gap="sm" data-testid="incidents">
            {lasting.length === 0 && (
              <Text size="sm" c="dimmed">
                No open incidents.
              </Text>
            )}
            {lasting.map(one => (
              <IncidentCard key={one.key} run={run} incident={one} onShow={onShow} />
            ))}
            {over.length > 0 && (
              <Text size="sm" c="dimmed" mt="xs">
                Resolved
              </Text>
            )}
            {over.map(one => (
              <IncidentCard key={one.key} run={run} incident={one} onShow={onShow} />
            ))}
          </Stack>
        );
      }}
    </Loaded>
  );
}

function Healthy({ run }: { run: Run }) {
  const begun = run.step > 0;
  return (
    <EmptyState icon={<IconHeartbeat size={40} stroke={1.3} />} title={begun ? "No incidents" : "No steps yet"}>
      {begun
        ? "No guard or alert has reported a problem, and all metrics are numbers. Only what guards watch is covered."
        : "Incidents appear here with their cause and what to do."}
    </EmptyState>
  );
}
