/** Every metric that no curated chart draws, by group. A group is read when it comes near the screen. */
import { Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ComponentProps } from "react";
import type { Run } from "@/api/model";
import { metricsQuery, type Window } from "@/entities/runs/queries";
import { ErrorState } from "@/ui/ErrorState";
import { ChartCard } from "./ChartCard";
import { ChartPlace } from "./ChartPlace";
import classes from "./charts.module.css";
import type { Section } from "./more";
import { useGhost } from "./useGhost";
import { useSeen } from "./useSeen";

type Common = Omit<ComponentProps<typeof ChartCard>, "chart" | "data">;

interface Props {
  run: Run;
  sections: Section[];
  window: Window;
  common: Common;
  isGhostDrawn: boolean;
}

export function MoreCharts({ sections, ...rest }: Props) {
  if (sections.length === 0) return null;
  const count = sections.reduce((sum, { charts }) => sum + charts.length, 0);
  return (
    <section aria-labelledby="more-charts" data-testid="more-charts">
      <Title order={2} id="more-charts" mt="lg">
        All other metrics{" "}
        <Text component="span" c="dimmed" className="num">
          {count}
        </Text>
      </Title>
      {sections.map(section => (
        <Group key={section.heading} section={section} {...rest} />
      ))}
    </section>
  );
}

function Group({ run, section, window, common, isGhostDrawn }: Omit<Props, "sections"> & { section: Section }) {
  const { ref, seen } = useSeen();
  const keys = section.charts.flatMap(chart => chart.lines([]).map(line => line.key));
  const metrics = useQuery({ ...metricsQuery(run.id, keys, window), enabled: seen });
  const ghost = useGhost(run, keys, window, seen && isGhostDrawn);
  return (
    <>
      <Title order={3} mt="md" mb={8}>
        {section.heading}
      </Title>
      {metrics.isError && <ErrorState error={metrics.error} retry={() => void metrics.refetch()} />}
      <div ref={ref} className={classes.grid}>
        {!metrics.isError &&
          section.charts.map(chart =>
            metrics.data ? (
              <ChartCard key={chart.id} chart={chart} data={metrics.data} ghost={ghost} {...common} />
            ) : (
              <ChartPlace key={chart.id} isAwaited={seen} />
            ),
          )}
      </div>
    </>
  );
}
