import { Alert, Code, Group, SimpleGrid, Text } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { CopyIcon } from "@/ui/CopyText";

/** Recovery codes, shown only once. */
export function RecoveryCodes({ codes, onClose }: { codes: string[]; onClose: () => void }) {
  return (
    <Alert
      color="yellow"
      icon={<IconKey size={18} />}
      title="Your recovery codes"
      mb="md"
      withCloseButton
      onClose={onClose}
      closeButtonLabel="Hide permanently"
      data-testid="recovery-codes"
    >
      <SimpleGrid cols={2} spacing={4}>
        {codes.map(code => (
          <Code key={code}>{code}</Code>
        ))}
      </SimpleGrid>
      <Group gap={4} mt="xs" wrap="nowrap">
        <CopyIcon value={codes.join("\n")} label="Copy recovery codes" />
        <Text size="xs">
          Shown only once. Each code works once if you lose your phone. Print them or keep them in a safe place.
        </Text>
      </Group>
    </Alert>
  );
}
