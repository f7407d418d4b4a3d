import { Button, Group, Modal, Text } from "@mantine/core";
import { useBlocker } from "@tanstack/react-router";
import type { ReactNode } from "react";

interface Props {
  /** While this holds, leaving the page or reloading it asks first. */
  when: boolean;
  /** What would be lost. */
  children: ReactNode;
}

/** Asks before what a person has typed is lost. `ignoreBlocker` of a navigation goes past it. */
export function LeaveGuard({ when, children }: Props) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: () => when,
    enableBeforeUnload: when,
    withResolver: true,
  });
  return (
    <Modal opened={status === "blocked"} onClose={() => reset?.()} title="Discard your changes?">
      <Text size="sm">{children}</Text>
      <Group justify="flex-end" gap="xs" mt="md">
        <Button variant="default" onClick={() => reset?.()} data-autofocus>
          Stay
        </Button>
        <Button color="red" onClick={() => proceed?.()}>
          Discard changes
        </Button>
      </Group>
    </Modal>
  );
}
