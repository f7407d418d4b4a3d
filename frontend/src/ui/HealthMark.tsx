/** A run's health: "entropy collapse since step 120", amber or red. Nothing if it is healthy. */
import { Text, Tooltip } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { Run } from "@/api/model";
import { healthWords } from "./health";
import { TextLink } from "./TextLink";

interface Props {
  health: Run["health"] | undefined;
  /** The run whose incidents a click opens; none if the mark is in a link already. */
  runId?: string;
}

export function HealthMark({ health, runId }: Props) {
  if (!health || health.findings.length === 0) return null;
  const detail = health.findings.map(one => `${one.guard}: ${one.message}`).join("\n");
  return (
    <Tooltip label={detail} multiline maw={420} style={{ whiteSpace: "pre-line" }}>
      <Text
        size="xs"
        fw={550}
        tabIndex={runId === undefined ? 0 : undefined}
        c={health.state === "error" ? "var(--c-bad)" : "var(--c-warn)"}
        data-testid="run-health"
        data-state={health.state}
        style={{ display: "flex", gap: 4, alignItems: "flex-start" }}
      >
        <IconAlertTriangle size={13} aria-hidden="true" style={{ flex: "none", marginTop: 2 }} />
        {runId === undefined ? (
          <span>{healthWords(health)}</span>
        ) : (
          <TextLink to="/runs/$runId" params={{ runId }} search={{ tab: "incidents" }} c="inherit" inherit>
            {healthWords(health)}
          </TextLink>
        )}
      </Text>
    </Tooltip>
  );
}
