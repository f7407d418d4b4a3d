/** The retention rule of rollouts, and how much of their budget is used. */
import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Kept } from "@/api/model";
import { formatBytes } from "@/lib/format";
import { keptQuery } from "./queries";

export function KeptNote({ runId }: { runId: string }) {
  const { data } = useQuery(keptQuery(runId));
  return (
    <Text size="xs" c="dimmed" mb={6} mih={18} data-testid="kept">
      {data && keptText(data)}
    </Text>
  );
}

export function keptText(kept: Kept): string {
  const some = kept.groups_per_step === 1 ? "1 group" : `${kept.groups_per_step} groups`;
  if (kept.max_bytes === 0) return `The texts of ${some} of each step are stored, without tokens.`;
  const full = kept.full_steps === 1 ? "the last step" : `the last ${kept.full_steps} steps`;
  const rule = kept.full_steps === 0 ? `${some} of each step` : `All groups of ${full}, ${some} of each earlier one`;
  const used = `${formatBytes(kept.bytes)} of ${formatBytes(kept.max_bytes)}`;
  if (kept.files === 0) return `Stored with tokens: ${rule}. Nothing stored yet.`;
  const from = kept.first_step === null ? "" : `, back to step ${kept.first_step}`;
  return `Stored with tokens: ${rule}; ${used}${from}.`;
}
