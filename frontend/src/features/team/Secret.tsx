import { Alert, Text } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { CopyText } from "@/ui/CopyText";

/** A secret at the only moment at which it can be seen. */
export function Secret({ title, value, onClose }: { title: string; value: string; onClose: () => void }) {
  return (
    <Alert
      color="yellow"
      icon={<IconKey size={18} />}
      title={title}
      mb="md"
      withCloseButton
      onClose={onClose}
      closeButtonLabel="Hide it for good"
      data-testid="secret"
    >
      <CopyText value={value} label="Copy the secret" />
      <Text size="xs" mt={6}>
        Shown this once. Keep it now; nobody can look it up later.
      </Text>
    </Alert>
  );
}
