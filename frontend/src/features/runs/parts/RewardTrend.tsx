/** Latest reward with its curve. */
import { Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import * as api from "@/api/client";
import type { Run } from "@/api/model";
import { formatNumber } from "@/lib/format";
import { Sparkline } from "@/ui/Sparkline";

const REWARD = "critic/score/mean";

export function RewardTrend({ run }: { run: Run }) {
  const trend = useQuery({
    queryKey: ["trend", run.id, Math.floor(run.step / 5)],
    queryFn: ({ signal }) => api.getMetrics(run.id, { keys: REWARD, x: "step", max_points: 40 }, { signal }),
    enabled: run.step > 0,
    placeholderData: previous => previous,
    staleTime: 60_000,
  });
  const values = (trend.data?.series[REWARD]?.mean ?? []).filter(value => value !== null);
  return (
    <Group gap={8} wrap="nowrap">
      <Sparkline values={values} />
      <Text size="sm" className="num" miw={40}>
        {formatNumber(run.summary.reward, 3)}
      </Text>
    </Group>
  );
}
