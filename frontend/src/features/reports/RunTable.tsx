/** Tables of runs in a report: held-out results, or the keys in which their specs differ. */
import { Skeleton } from "@mantine/core";
import { useMemo } from "react";
import type { Run } from "@/api/model";
import type { BlockOf } from "@/entities/reports/blocks";
import { changedKeys } from "@/features/runs/overlay/changed";
import { Differences } from "@/features/runs/overlay/Differences";
import { Evaluations } from "@/features/runs/overlay/Evaluations";
import { ErrorState } from "@/ui/ErrorState";
import { Nothing } from "@/ui/Nothing";
import { BlockRuns } from "./BlockRuns";
import { useMetrics } from "./ChartBlockView";
import { Freshness } from "./Freshness";
import classes from "./reports.module.css";

type Block = BlockOf<"evaluations"> | BlockOf<"spec">;

export function RunTable({ block }: { block: Block }) {
  return (
    <div>
      <BlockRuns mentions={block.runs}>
        {runs => (block.type === "spec" ? <Changed runs={runs} /> : <Results {...{ block, runs }} />)}
      </BlockRuns>
      <div className={classes.about}>
        <Freshness asOf={block.type === "spec" ? null : block.as_of} />
      </div>
    </div>
  );
}

function Changed({ runs }: { runs: Run[] }) {
  const keys = useMemo(() => changedKeys(runs.map(run => run.effective_spec ?? null)), [runs]);
  return <Differences runs={runs} keys={keys} />;
}

function Results({ block, runs }: { block: BlockOf<"evaluations">; runs: Run[] }) {
  const { metrics, failed, isPending } = useMetrics(runs);
  if (failed) return <ErrorState error={failed.error} retry={() => void failed.refetch()} />;
  if (isPending) return <Skeleton height={120} aria-busy="true" aria-label="Loading" />;
  const none = (
    <Nothing>
      {block.as_of
        ? "None of these runs had been evaluated on held-out prompts by then."
        : "None of these runs was evaluated on held-out prompts."}
    </Nothing>
  );
  return <Evaluations {...{ runs, metrics, none }} asOf={block.as_of ?? undefined} />;
}
