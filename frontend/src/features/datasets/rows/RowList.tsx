/** Rows of a list, of which only those in sight are drawn. Arrow keys move, Enter opens, the space bar selects. */
import { Checkbox, VisuallyHidden } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { type KeyboardEvent, type MouseEvent, useEffect, useRef, useState } from "react";
import type { FoundRow } from "@/api/model";
import { MarkedText } from "@/ui/MarkedText";
import { Placeholder } from "@/ui/Placeholder";
import classes from "./rows.module.css";
import { placeOf, ROW_HEIGHT, type RowWindow } from "./window";

/** Pixels for a scroll bar below the rows, and the border. */
const ROOM = 18;

export interface NoteColumn {
  notes: string;
  column: string;
}

interface Props {
  label: string;
  count: number;
  row: (place: number) => FoundRow | undefined;
  columns: readonly NoteColumn[];
  window: RowWindow;
  scrollTop: number;
  onScroll: (scrollTop: number, view: number) => void;
  /** Index of the row that is open. */
  opened: number | null;
  onOpen: (index: number) => void;
  selected: ReadonlyMap<string, number>;
  onSelect: (row: FoundRow) => void;
}

export function RowList(props: Props) {
  const { label, count, row, columns, window: sight, scrollTop, onScroll, opened, onOpen, selected, onSelect } = props;
  const box = useRef<HTMLDivElement>(null);
  const { ref: measured, height } = useElementSize();
  const view = Math.max(0, height - ROW_HEIGHT); // without the head
  const [active, setActive] = useState(0);
  useEffect(() => {
    if (view > 0) onScroll(box.current?.scrollTop ?? 0, view);
  }, [view, onScroll]);
  useWheel(box, sight.scale);
  const here = Math.min(active, Math.max(0, count - 1));

  function move(to: number) {
    const place = Math.max(0, Math.min(count - 1, to));
    setActive(place);
    if (box.current) box.current.scrollTop = placeOf(place, count, scrollTop, view);
    const next = row(place);
    if (opened !== null && next) onOpen(next.index);
  }

  function onKeyDown(event: KeyboardEvent) {
    const page = Math.max(1, Math.floor(view / ROW_HEIGHT) - 2);
    const steps: Record<string, number> = {
      ArrowDown: here + 1,
      ArrowUp: here - 1,
      PageDown: here + page,
      PageUp: here - page,
      Home: 0,
      End: count - 1,
    };
    const to = steps[event.key];
    const current = row(here);
    if (to !== undefined) move(to);
    else if (event.key === "Enter" && current) onOpen(current.index);
    else if (event.key === " " && current) onSelect(current);
    else return;
    event.preventDefault();
  }

  function onClick(event: MouseEvent) {
    const target = event.target as HTMLElement;
    const place = Number(target.closest<HTMLElement>("[data-place]")?.dataset.place ?? NaN);
    const clicked = Number.isNaN(place) ? undefined : row(place);
    if (!clicked) return;
    setActive(place);
    if (target.closest("[data-select]")) onSelect(clicked);
    else onOpen(clicked.index);
  }

  const template = `32px 72px minmax(260px, 1fr) minmax(90px, 160px) ${"minmax(90px, 130px) ".repeat(columns.length)}`;
  return (
    <div
      ref={box}
      className={classes.list}
      style={{ maxHeight: (count + 1) * ROW_HEIGHT + ROOM }}
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={count + 1}
      aria-activedescendant={row(here) ? `row-${here}` : undefined}
      onKeyDown={onKeyDown}
      onClick={onClick}
      onScroll={event => onScroll(event.currentTarget.scrollTop, view)}
    >
      <div ref={measured} className={classes.view} aria-hidden />
      <div className={classes.head} role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
        <span role="columnheader">
          <VisuallyHidden>Selected</VisuallyHidden>
        </span>
        <span role="columnheader">Row</span>
        <span role="columnheader">Prompt or chat</span>
        <span role="columnheader">Answer</span>
        {columns.map(({ notes, column }) => (
          <span role="columnheader" key={`${notes}.${column}`} title={`${notes}: ${column}`}>
            {column.replaceAll("_", " ")}
          </span>
        ))}
      </div>
      <div className={classes.body} role="presentation" style={{ height: sight.height }}>
        <div role="presentation" className={classes.drawn} style={{ transform: `translateY(${sight.top}px)` }}>
          {Array.from({ length: Math.max(0, sight.end - sight.first) }, (_, number) => sight.first + number).map(
            place => {
              const found = row(place);
              return (
                <div
                  key={place}
                  id={`row-${place}`}
                  role="row"
                  aria-rowindex={place + 2}
                  aria-selected={found ? selected.has(found.id) : false}
                  className={classes.row}
                  style={{ gridTemplateColumns: template }}
                  data-place={place}
                  data-active={place === here || undefined}
                  data-opened={(found && found.index === opened) || undefined}
                >
                  {found ? (
                    <Cells found={found} columns={columns} selected={selected.has(found.id)} />
                  ) : (
                    <span role="gridcell" className={classes.wide}>
                      <Placeholder height={12} />
                    </span>
                  )}
                </div>
              );
            },
          )}
        </div>
      </div>
    </div>
  );
}

function Cells({ found, columns, selected }: { found: FoundRow; columns: readonly NoteColumn[]; selected: boolean }) {
  return (
    <>
      <span role="gridcell" data-select>
        <Checkbox
          size="xs"
          tabIndex={-1}
          checked={selected}
          readOnly
          aria-label={`Select row ${found.index + 1}`}
          style={{ pointerEvents: "none" }}
        />
      </span>
      <span role="gridcell" className={classes.number} title={found.id}>
        {(found.index + 1).toLocaleString("en-GB")}
      </span>
      <span role="gridcell" className={classes.text}>
        <MarkedText>{found.text.slice(0, 300)}</MarkedText>
      </span>
      <span role="gridcell" className={classes.text}>
        <MarkedText>{found.answer ?? ""}</MarkedText>
      </span>
      {columns.map(({ notes, column }) => (
        <span role="gridcell" className={classes.number} key={`${notes}.${column}`}>
          {noteText((found.notes[notes] as Record<string, unknown> | undefined)?.[column])}
        </span>
      ))}
    </>
  );
}

/** A value of a note in a cell. */
export function noteText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number" && !Number.isInteger(value)) return value.toFixed(3);
  return String(value);
}

/** Keeps the wheel at its own pace where a pixel of the scroll bar stands for several of the list. */
function useWheel(box: React.RefObject<HTMLDivElement | null>, scale: number) {
  useEffect(() => {
    const { current } = box;
    if (!current || scale <= 1) return;
    const slowly = (event: WheelEvent) => {
      if (event.ctrlKey || event.deltaY === 0) return;
      event.preventDefault();
      const step = event.deltaY / scale;
      current.scrollTop += Math.sign(step) * Math.max(1, Math.abs(step));
    };
    current.addEventListener("wheel", slowly, { passive: false });
    return () => current.removeEventListener("wheel", slowly);
  }, [box, scale]);
}
