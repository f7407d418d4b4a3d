/** One guard: its state in a line; its chart, bounds and actions once opened. */
import { Button, Group, Text, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import type { Run } from "@/api/model";
import { GuardForm } from "./GuardForm";
import { GuardPicture } from "./GuardPicture";
import { type Guard, keyOf, limitWords } from "./replay";

/** Steps for which a guard is muted at a click. */
const MUTED_STEPS = 50;

interface Props {
  run: Run;
  guard: Guard;
  finding: Run["health"]["findings"][number] | undefined;
  names: string[];
  disabled: boolean;
  onChange: (guard: Guard) => void;
  onRemove: () => void;
}

export function GuardRow({ run, guard, finding, names, disabled, onChange, onRemove }: Props) {
  const [opened, { toggle }] = useDisclosure(false);
  const muted = typeof guard.muted_until === "number" && run.step < guard.muted_until;
  return (
    <div data-testid="guard" data-guard={keyOf(guard)}>
      <UnstyledButton onClick={toggle} aria-expanded={opened} w="100%">
        <Group gap={6} wrap="nowrap" justify="space-between">
          <Group gap={4} wrap="nowrap" miw={0}>
            {opened ? <IconChevronDown size={13} aria-hidden /> : <IconChevronRight size={13} aria-hidden />}
            <Text size="sm" truncate>
              {keyOf(guard)}
            </Text>
          </Group>
          <Text size="xs" c={finding ? (finding.severity === "error" ? "var(--c-bad)" : "var(--c-warn)") : "dimmed"}>
            {finding
              ? `since step ${finding.since}`
              : muted
                ? `muted to step ${guard.muted_until}`
                : guard.action.replace("_", " ")}
          </Text>
        </Group>
      </UnstyledButton>
      {opened && (
        <div style={{ padding: "4px 0 8px 17px" }}>
          <Text size="xs" className="mono">
            {guard.metric}
          </Text>
          <Text size="xs">{limitWords(guard)}</Text>
          {guard.why && (
            <Text size="xs" c="dimmed">
              {guard.why}
            </Text>
          )}
          {finding && <Text size="xs">{finding.message}</Text>}
          {finding?.outcome?.refused && <Text size="xs">Action failed: {finding.outcome.refused}</Text>}
          <GuardPicture runId={run.id} guard={guard} />
          {!disabled && (
            <>
              <GuardForm guard={guard} names={names} disabled={disabled} onChange={onChange} />
              <Group gap="xs" mt={6}>
                <Button
                  size="compact-xs"
                  variant="default"
                  onClick={() => onChange({ ...guard, muted_until: muted ? null : run.step + MUTED_STEPS })}
                >
                  {muted ? "Unmute" : `Mute for ${MUTED_STEPS} steps`}
                </Button>
                <Button size="compact-xs" variant="subtle" color="red" onClick={onRemove}>
                  Remove
                </Button>
              </Group>
            </>
          )}
        </div>
      )}
    </div>
  );
}
