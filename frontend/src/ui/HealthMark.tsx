/** What a run's state does not say: "entropy collapse since step 120", amber or red. Nothing where all is well. */
import { Text, Tooltip } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { Run } from "@/api/model";
import { healthWords } from "./health";

export function HealthMark({ health }: { health: Run["health"] | undefined }) {
  if (!health || health.findings.length === 0) return null;
  const detail = health.findings.map(one => `${one.guard}: ${one.message}`).join("\n");
  return (
    <Tooltip label={detail} multiline maw={420} style={{ whiteSpace: "pre-line" }}>
      <Text
        size="xs"
        fw={550}
        tabIndex={0}
        c={health.state === "error" ? "var(--c-bad)" : "var(--c-warn)"}
        data-testid="run-health"
        data-state={health.state}
        style={{ display: "flex", gap: 4, alignItems: "flex-start" }}
      >
        <IconAlertTriangle size={13} aria-hidden="true" style={{ flex: "none", marginTop: 2 }} />
        <span>{healthWords(health)}</span>
      </Text>
    </Tooltip>
  );
}
