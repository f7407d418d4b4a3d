/** A place for a file: drop it, or choose it. */
import { Text } from "@mantine/core";
import { IconFile, IconUpload } from "@tabler/icons-react";
import { type DragEvent, useId, useState } from "react";
import { formatBytes } from "@/lib/format";
import classes from "./ui.module.css";

interface Props {
  file: File | null;
  onFile: (file: File | null) => void;
  accept: string;
  hint: string;
  disabled?: boolean;
}

export function DropFile({ file, onFile, accept, hint, disabled = false }: Props) {
  const id = useId();
  const [over, setOver] = useState(false);
  const drag = (event: DragEvent, inside: boolean) => {
    event.preventDefault();
    setOver(inside && !disabled);
  };
  return (
    <div>
      <input
        id={id}
        type="file"
        accept={accept}
        disabled={disabled}
        className={`sr-only ${classes.dropInput}`}
        onChange={event => onFile(event.currentTarget.files?.[0] ?? null)}
        data-testid="file-input"
      />
      <label
        htmlFor={id}
        className={classes.drop}
        data-over={over || undefined}
        onDragOver={event => drag(event, true)}
        onDragEnter={event => drag(event, true)}
        onDragLeave={event => drag(event, false)}
        onDrop={event => {
          drag(event, false);
          if (!disabled) onFile(event.dataTransfer.files[0] ?? null);
        }}
      >
        {file ? <IconFile size={22} stroke={1.5} /> : <IconUpload size={22} stroke={1.5} />}
        <Text size="sm" fw={550}>
          {file ? file.name : "Drop a file here, or choose one"}
        </Text>
        <Text size="xs" c="dimmed">
          {file ? formatBytes(file.size) : hint}
        </Text>
      </label>
    </div>
  );
}
