/** Shown instead of the spec while its text is invalid. */
import { Alert, Button, Group, Text } from "@mantine/core";

interface Props {
  fault: string;
  onBack: () => void;
  onDrop: () => void;
}

export function UnreadText({ fault, onBack, onDrop }: Props) {
  return (
    <Alert color="red" title="Your text is not a valid spec" data-testid="unread-text">
      <FaultText>{fault}</FaultText>
      <Text size="sm" mt={8}>
        Your text is unchanged. Fix it, or discard it and continue with the last valid spec.
      </Text>
      <Group gap="xs" mt="sm">
        <Button size="xs" onClick={onBack}>
          Back to text
        </Button>
        <Button size="xs" variant="default" onClick={onDrop}>
          Discard text
        </Button>
      </Group>
    </Alert>
  );
}

/** A parser's words, with the place that it points at. */
export function FaultText({ children }: { children: string }) {
  return <pre style={{ margin: 0, whiteSpace: "pre-wrap", fontSize: 12 }}>{children}</pre>;
}
