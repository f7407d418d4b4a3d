import { Alert, Text } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { CopyText } from "./CopyText";

interface Props {
  title: string;
  value: string;
  /** What to do with it. */
  note?: string;
  onClose: () => void;
}

/** A secret, shown only once. */
export function Secret({ title, value, note, onClose }: Props) {
  return (
    <Alert
      color="yellow"
      icon={<IconKey size={18} />}
      title={title}
      mb="md"
      withCloseButton
      onClose={onClose}
      closeButtonLabel="Hide permanently"
      data-testid="secret"
    >
      <CopyText value={value} label="Copy secret" />
      <Text size="xs" mt={6}>
        Shown only once. Save it now. {note}
      </Text>
    </Alert>
  );
}
