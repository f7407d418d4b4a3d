/** What is wrong with a run: those that last first, and what is over below. */
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
                Nothing is wrong now, as far as the run’s guards, alerts and metrics tell.
              </Text>
            )}
            {lasting.map(one => (
              <IncidentCard key={one.key} run={run} incident={one} onShow={onShow} />
            ))}
            {over.length > 0 && (
              <Text size="sm" c="dimmed" mt="xs">
                Over
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
    <EmptyState icon={<IconHeartbeat size={40} stroke={1.3} />} title={begun ? "Nothing was wrong" : "No steps yet"}>
      {begun
        ? "No guard has objected, no alert tells of a fault, and all metrics are numbers. What a guard does not watch is not told here."
        : "Incidents are told from what a run reports: they appear here with their cause and what to do."}
    </EmptyState>
  );
}
