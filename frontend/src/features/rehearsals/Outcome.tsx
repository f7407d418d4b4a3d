import { Progress, Stack, Text } from "@mantine/core";
import type { Rehearsal, RehearsalReport } from "@/api/model";
import { Findings } from "./Findings";
import { percentOf } from "@/lib/format";
import { signalSentence, stepSentence } from "./rehearsal";

/** The results of a dry run: warnings first, then the share of groups with signal and the step time. */
export function Outcome({ rehearsal, report }: { rehearsal: Rehearsal; report: RehearsalReport }) {
  const sentence = stepSentence(rehearsal);
  const answers = report.groups.reduce((sum, group) => sum + group.samples.length, 0);
  return (
    <Stack gap="sm">
      <Findings findings={report.findings} answers={answers} />
      <SignalBar share={report.signal_share} groups={report.groups.length} />
      {sentence && (
        <Text size="sm" data-testid="step-time">
          {sentence}
        </Text>
      )}
    </Stack>
  );
}

function SignalBar({ share, groups }: { share: number; groups: number }) {
  const sentence = signalSentence(share, groups);
  return (
    <div data-testid="signal-share">
      <Progress
        value={percentOf(share, 1)}
        color={share === 0 ? "red" : "petrol"}
        size={8}
        aria-label={sentence}
        style={{ background: "var(--c-border)" }}
      />
      <Text size="xs" c="dimmed" mt={4}>
        {sentence}
      </Text>
    </div>
  );
}
