/** The runs of a block, once they are read; those that are gone are named, and the others stand. */
import { Alert, Skeleton } from "@mantine/core";
import { useMemo, type ReactNode } from "react";
import type { ReportContentRunMention, Run } from "@/api/model";
import { useRuns } from "@/features/runs/overlay/useRuns";
import { ErrorState } from "@/ui/ErrorState";
import { Nothing } from "@/ui/Nothing";

interface Props {
  mentions: ReportContentRunMention[];
  children: (runs: Run[]) => ReactNode;
}

export function BlockRuns({ mentions, children }: Props) {
  const ids = useMemo(() => [...new Set(mentions.map(run => run.id))], [mentions]);
  const { runs, missing, failed, isPending } = useRuns(ids);
  if (failed) return <ErrorState error={failed.error} retry={() => void failed.refetch()} />;
  if (ids.length === 0) return <Nothing>No runs selected.</Nothing>;
  if (isPending) return <Skeleton height={180} aria-busy="true" aria-label="Loading" />;
  return (
    <>
      {missing.length > 0 && <Gone mentions={mentions.filter(run => missing.includes(run.id))} areAll={!runs.length} />}
      {runs.length > 0 && children(runs)}
    </>
  );
}

function Gone({ mentions, areAll }: { mentions: ReportContentRunMention[]; areAll: boolean }) {
  const names = mentions.map(run => (run.name ? `“${run.name}” (${run.id})` : run.id)).join(", ");
  const [is, run] = mentions.length === 1 ? ["is", "The run"] : ["are", "The runs"];
  return (
    <Alert color="yellow" variant="light" p="xs" mb={6} role="note">
      {run} {names} {is} no longer in this team. {areAll ? "Nothing is left to show." : "The others are shown."}
    </Alert>
  );
}
