import { Modal } from "@mantine/core";
import { PasswordForm } from "./PasswordForm";

export function PasswordModal({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Change password">
      <PasswordForm onChanged={onClose} onCancel={onClose} />
    </Modal>
  );
}
