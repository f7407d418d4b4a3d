/** Moves a pinned chart among the pinned: dragged, or by the arrow keys. */
import { ActionIcon, Tooltip } from "@mantine/core";
import { IconGripVertical } from "@tabler/icons-react";

/** Type of what is dragged, so that nothing else is taken for a chart. */
export const DRAGGED_CHART = "application/x-dressage-chart";

interface Props {
  id: string;
  title: string;
  /** The pinned charts that are shown, in order. */
  shown: string[];
  onPlace: (id: string, at: string) => void;
}

export function PinHandle({ id, title, shown, onPlace }: Props) {
  const move = (by: -1 | 1) => {
    const at = shown[shown.indexOf(id) + by];
    if (at !== undefined) onPlace(id, at);
  };
  return (
    <Tooltip label="Drag, or move with the arrow keys">
      <ActionIcon
        size="sm"
        variant="subtle"
        aria-label={`Move ${title}`}
        style={{ cursor: "grab" }}
        draggable
        onDragStart={event => {
          event.dataTransfer.setData(DRAGGED_CHART, id);
          event.dataTransfer.effectAllowed = "move";
        }}
        onKeyDown={event => {
          const by = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
          if (by === 0) return;
          event.preventDefault();
          move(by);
        }}
      >
        <IconGripVertical size={14} />
      </ActionIcon>
    </Tooltip>
  );
}
