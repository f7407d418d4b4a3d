import { Group, Kbd, Modal, Switch, Table, Text } from "@mantine/core";
import { useCommands } from "./commands";
import { useShortcuts, useShortcutsSetting } from "./shortcuts";

interface Props {
  opened: boolean;
  onOpen: () => void;
  onClose: () => void;
}

/** Listens for single keys; the question mark lists those of the page, and switches them off. */
export function Shortcuts({ opened, onOpen, onClose }: Props) {
  const commands = useCommands();
  const [enabled, setEnabled] = useShortcutsSetting();
  useShortcuts(commands, enabled, onOpen);
  return (
    <Modal opened={opened} onClose={onClose} title="Keyboard shortcuts" size="md">
      <Table withRowBorders={false} verticalSpacing={4}>
        <Table.Tbody>
          {commands.map(({ keys, label }) => (
            <Table.Tr key={keys}>
              <Table.Td>{label}</Table.Td>
              <Table.Td ta="right">
                <Group gap={4} justify="flex-end" wrap="nowrap">
                  {keys.split(" ").map((key, index) => (
                    <Kbd key={index}>{key}</Kbd>
                  ))}
                </Group>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Switch
        mt="md"
        size="sm"
        label="Enable single-key shortcuts"
        checked={enabled}
        onChange={event => setEnabled(event.currentTarget.checked)}
      />
      {!enabled && (
        <Text size="xs" c="dimmed" mt={4}>
          To open this list, search for “Keyboard shortcuts”.
        </Text>
      )}
    </Modal>
  );
}
