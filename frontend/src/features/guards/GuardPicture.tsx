/** The last values of a guard's metric, with its bounds as lines and the steps at which it would have acted. */
import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { metricsQuery } from "@/entities/runs/queries";
import { type Guard, isReplayable, wouldFire } from "./replay";

const WIDTH = 260;
const HEIGHT = 64;

export function GuardPicture({ runId, guard }: { runId: string; guard: Guard }) {
  const found = useQuery({ ...metricsQuery(runId, [guard.metric], { x: "step" }), staleTime: 10_000 });
  const series = found.data?.series[guard.metric];
  if (found.isError) return <Words>The values could not be loaded.</Words>;
  if (!found.isSuccess) return <Words>Loading values</Words>;
  if (!series || series.x.length === 0) return <Words>This run does not report {guard.metric} yet.</Words>;
  const fired = isReplayable(guard) ? wouldFire(guard, series.x, series.mean) : null;
  const bounds = [guard.min, guard.max].filter(bound => typeof bound === "number");
  const values = series.mean.filter(value => value !== null);
  const low = Math.min(...values, ...bounds);
  const span = Math.max(...values, ...bounds) - low || 1;
  const y = (value: number) => HEIGHT - 4 - ((value - low) / span) * (HEIGHT - 8);
  const x = (index: number) => (index / Math.max(1, series.x.length - 1)) * (WIDTH - 4) + 2;
  const points = series.mean.flatMap((value, index) => (value === null ? [] : [`${x(index)},${y(value)}`]));
  const words =
    fired === null
      ? "One metric is not enough to find its steps."
      : fired.length === 0
        ? "Would not have acted so far."
        : `Would have acted at ${fired.length === 1 ? "step" : "steps"} ${fired.slice(-6).join(", ")}.`;
  return (
    <div data-testid="guard-picture">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        width="100%"
        height={HEIGHT}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${guard.metric}: ${words}`}
      >
        {bounds.map(bound => (
          <line key={bound} x1="0" x2={WIDTH} y1={y(bound)} y2={y(bound)} stroke="var(--c-bad)" strokeDasharray="4 3" />
        ))}
        <polyline points={points.join(" ")} fill="none" stroke="var(--c-s0)" strokeWidth="1.5" />
        {(fired ?? []).map(step => (
          <circle key={step} cx={x(series.x.indexOf(step))} cy={HEIGHT - 4} r="3" fill="var(--c-bad)" />
        ))}
      </svg>
      <Words>{words}</Words>
    </div>
  );
}

function Words({ children }: { children: React.ReactNode }) {
  return (
    <Text size="xs" c="dimmed">
      {children}
    </Text>
  );
}
