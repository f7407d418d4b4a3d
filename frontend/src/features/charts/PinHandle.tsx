/** Moves a pinned chart among the pinned: by dragging, arrow keys, or a menu for touch. */
import { ActionIcon, Menu, Tooltip } from "@mantine/core";
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
  const place = shown.indexOf(id);
  const to = (at: number) => {
    const there = shown[at];
    if (there !== undefined && there !== id) onPlace(id, there);
  };
  const ways: [string, number][] = [
    ["Move to front", 0],
    ["Move forward", place - 1],
    ["Move back", place + 1],
    ["Move to end", shown.length - 1],
  ];
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Tooltip label="Drag, use the arrow keys, or choose a position">
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
              to(place + by);
            }}
          >
            <IconGripVertical size={14} />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        {ways.map(([label, at]) => (
          <Menu.Item key={label} disabled={at < 0 || at >= shown.length || at === place} onClick={() => to(at)}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
