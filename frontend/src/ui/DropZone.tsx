/** A part of the page on which a file can be dropped. */
import { type DragEvent, type ReactNode, useState } from "react";
import classes from "./ui.module.css";

interface Props {
  /** What is said while a file hovers. */
  label: string;
  /** Without it, nothing can be dropped. */
  onFile?: (file: File) => void;
  children: ReactNode;
}

export function DropZone({ label, onFile, children }: Props) {
  const [over, setOver] = useState(false);
  if (!onFile) return children;
  const brings = (event: DragEvent) => event.dataTransfer.types.includes("Files");
  return (
    <div
      className={classes.dropZone}
      data-over={over || undefined}
      data-label={label}
      onDragOver={event => {
        if (!brings(event)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={event => {
        const to = event.relatedTarget;
        if (!(to instanceof Node && event.currentTarget.contains(to))) setOver(false);
      }}
      onDrop={event => {
        if (!brings(event)) return;
        event.preventDefault();
        setOver(false);
        const file = event.dataTransfer.files[0];
        if (file) onFile(file);
      }}
    >
      {children}
    </div>
  );
}
