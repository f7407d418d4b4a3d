/** Stands where the spec would be shown while the text that tells it cannot be read. */
import { Alert, Button, Group, Text } from "@mantine/core";

interface Props {
  fault: string;
  onBack: () => void;
  onDrop: () => void;
}

export function UnreadText({ fault, onBack, onDrop }: Props) {
  return (
    <Alert color="red" title="Your text cannot be read as a spec" data-testid="unread-text">
      <FaultText>{fault}</FaultText>
      <Text size="sm" mt={8}>
        The text is kept as you left it. Mend it, or drop it and go on with the last spec that could be read.
      </Text>
      <Group gap="xs" mt="sm">
        <Button size="xs" onClick={onBack}>
          Back to the text
        </Button>
        <Button size="xs" variant="default" onClick={onDrop}>
          Drop the text
        </Button>
      </Group>
    </Alert>
  );
}

/** A parser's words, with the place that it points at. */
export function FaultText({ children }: { children: string }) {
  return <pre style={{ margin: 0, whiteSpace: "pre-wrap", fontSize: 12 }}>{children}</pre>;
}
