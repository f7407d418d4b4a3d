/** A block that is being written, with its place among the others. */
import { ActionIcon, Text, Tooltip } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconCopy, IconGripVertical, IconTrash } from "@tabler/icons-react";
import { type KeyboardEvent, type ReactNode, useState } from "react";
import type { ReportBlock } from "@/api/model";
import { dropTarget } from "@/lib/dropTarget";
import { KINDS } from "./AddBlock";
import { BlockSettings } from "./BlockSettings";
import classes from "./reports.module.css";

/** Type of what is dragged, so that nothing else is taken for a block. */
const DRAGGED_BLOCK = "application/x-dressage-block";

interface Props {
  block: ReportBlock;
  place: number;
  count: number;
  isFull: boolean;
  /** Whether it was added just now, so that it takes the focus. */
  isNew: boolean;
  onChange: (next: ReportBlock) => void;
  onMove: (id: string, to: number) => void;
  onCopy: () => void;
  onDelete: () => void;
}

export function EditableBlock({ block, place, count, isFull, isNew, onChange, ...on }: Props) {
  const [isOver, setOver] = useState(false);
  const { onMove, onCopy, onDelete } = on;
  const label = KINDS.find(({ kind }) => kind === block.type)?.label ?? block.type;
  const name = `block ${place + 1}, ${label.toLowerCase()}`;
  const press = (event: KeyboardEvent) => {
    const by = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
    if (by === 0) return;
    event.preventDefault();
    onMove(block.id, place + by);
  };
  return (
    <section
      className={classes.frame}
      aria-label={`Block ${place + 1}: ${label}`}
      data-block={block.type}
      data-over={isOver || undefined}
      {...dropTarget(DRAGGED_BLOCK, setOver, id => onMove(id, place))}
    >
      <div className={classes.bar}>
        <Tooltip label="Drag, or move with the arrow keys">
          <ActionIcon
            size="sm"
            variant="subtle"
            aria-label={`Move ${name}`}
            style={{ cursor: "grab" }}
            draggable
            onDragStart={event => {
              event.dataTransfer.setData(DRAGGED_BLOCK, block.id);
              event.dataTransfer.effectAllowed = "move";
            }}
            onKeyDown={press}
          >
            <IconGripVertical size={14} />
          </ActionIcon>
        </Tooltip>
        <Text size="xs" fw={600} c="dimmed" mr="auto">
          {label}
        </Text>
        <Act label={`Move ${name} up`} disabled={place === 0} onClick={() => onMove(block.id, place - 1)}>
          <IconArrowUp size={14} />
        </Act>
        <Act label={`Move ${name} down`} disabled={place === count - 1} onClick={() => onMove(block.id, place + 1)}>
          <IconArrowDown size={14} />
        </Act>
        <Act label={`Duplicate ${name}`} disabled={isFull} onClick={onCopy}>
          <IconCopy size={14} />
        </Act>
        <Act label={`Delete ${name}`} onClick={onDelete}>
          <IconTrash size={14} />
        </Act>
      </div>
      <div className={classes.body}>
        <BlockSettings {...{ block, isNew, onChange }} />
      </div>
    </section>
  );
}

interface ActProps {
  label: string;
  disabled?: boolean;
  onClick: () => void;
  children: ReactNode;
}

function Act({ label, disabled = false, onClick, children }: ActProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon size="sm" variant="subtle" aria-label={label} disabled={disabled} onClick={onClick}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}
