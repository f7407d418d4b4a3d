import { Alert, Button, Group, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconLock } from "@tabler/icons-react";
import { PasswordModal } from "@/features/session/PasswordModal";

/** Someone else has seen this password: it was printed or handed over. */
export function TemporaryPassword() {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <Alert color="yellow" icon={<IconLock size={18} />} mb="md" py="xs">
      <Group justify="space-between" gap="xs">
        <Text size="sm">You signed in with a password that someone else has seen.</Text>
        <Button size="xs" variant="default" onClick={open}>
          Choose your own
        </Button>
      </Group>
      <PasswordModal opened={opened} onClose={close} />
    </Alert>
  );
}
