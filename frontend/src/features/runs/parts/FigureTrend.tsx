/** Latest reward, loss or accuracy with its curve. */
import { Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import * as api from "@/api/client";
import type { Run } from "@/api/model";
import { FIGURES, newest } from "@/entities/runs/figures";
import { runObjective } from "@/entities/runs/objective";
import { formatNumber } from "@/lib/format";
import { Sparkline } from "@/ui/Sparkline";

export function FigureTrend({ run }: { run: Run }) {
  const objective = runObjective(run);
  const { metric, label } = FIGURES[objective];
  const trend = useQuery({
    queryKey: ["trend", run.id, metric, Math.floor(run.step / 5)],
    queryFn: ({ signal }) => api.getMetrics(run.id, { keys: metric, x: "step", max_points: 40 }, { signal }),
    enabled: run.step > 0,
    placeholderData: previous => previous,
    staleTime: 60_000,
  });
  const values = (trend.data?.series[metric]?.mean ?? []).filter(value => value !== null);
  const value = objective === "rl" ? run.summary.reward : newest(trend.data, objective).value;
  return (
    <Group gap={8} wrap="nowrap">
      <Sparkline values={values} />
      <Text size="sm" className="num" miw={40}>
        {formatNumber(value, 3)}
        {objective !== "rl" && (
          <Text span size="xs" c="dimmed">
            {" "}
            {label.toLowerCase()}
          </Text>
        )}
      </Text>
    </Group>
  );
}
