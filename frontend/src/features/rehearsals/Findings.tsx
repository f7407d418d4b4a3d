import { Alert, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconCircleCheck } from "@tabler/icons-react";
import type { RehearsalFinding } from "@/api/model";

/** Answers below which the platform looks for no faults. */
const LEAST_ANSWERS = 8;

/** What is wrong, with the cause in figures and what to change. */
export function Findings({ findings, answers }: { findings: RehearsalFinding[]; answers: number }) {
  if (findings.length === 0 && answers < LEAST_ANSWERS) {
    return (
      <Alert color="gray" p="xs" data-testid="too-few">
        <Text size="sm">Too few answers to look for problems: at least {LEAST_ANSWERS}.</Text>
      </Alert>
    );
  }
  if (findings.length === 0) {
    return (
      <Alert color="green" p="xs" icon={<IconCircleCheck size={18} />} data-testid="no-findings">
        <Text size="sm">No problems found in these answers.</Text>
      </Alert>
    );
  }
  return (
    <Stack gap={8} component="ul" aria-label="Findings" style={{ listStyle: "none", margin: 0, padding: 0 }}>
      {findings.map((finding, place) => (
        <li key={`${finding.kind}${place}`}>
          <Alert
            color="yellow"
            p="xs"
            icon={<IconAlertTriangle size={18} />}
            title={finding.title}
            data-testid="finding"
            data-kind={finding.kind}
          >
            <Text size="sm" style={{ overflowWrap: "anywhere" }}>
              {finding.message}
            </Text>
            {finding.advice && (
              <Text size="sm" mt={4} fw={550} style={{ overflowWrap: "anywhere" }}>
                {finding.advice}
              </Text>
            )}
          </Alert>
        </li>
      ))}
    </Stack>
  );
}
