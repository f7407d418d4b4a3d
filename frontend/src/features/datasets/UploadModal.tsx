/** The form of an upload in a dialog, which asks before a mapping that was made, or a file on its way, is dropped. */
import { Modal } from "@mantine/core";
import { useState } from "react";
import type { Dataset } from "@/api/model";
import { LeaveGuard } from "@/ui/LeaveGuard";
import { UploadForm } from "./UploadForm";

interface Props {
  opened: boolean;
  onClose: () => void;
  title: string;
  size: string;
  dataset?: Dataset;
  dropped?: File | null;
  onDone: (id: string) => void;
}

export function UploadModal({ opened, onClose, title, size, ...form }: Props) {
  const [holds, setHolds] = useState(false);
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={title}
      size={size}
      closeOnClickOutside={!holds}
      closeOnEscape={!holds}
    >
      <LeaveGuard when={opened && holds}>The upload, and what was said of its columns, would be dropped.</LeaveGuard>
      <UploadForm {...form} onHolds={setHolds} />
    </Modal>
  );
}
