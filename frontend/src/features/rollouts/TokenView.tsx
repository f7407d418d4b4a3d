/** Every token of a sample, coloured by what is known of it. Only the lines in sight are drawn. */
import { Button } from "@mantine/core";
import { useElementSize, useMergedRef } from "@mantine/hooks";
import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef, useState } from "react";
import { formatCount } from "@/lib/format";
import { type Fold, type Line, lineOf, setLines } from "./lines";
import { LEVELS, type Painted } from "./overlays";
import type { Tokens } from "./tokens";
import classes from "./tokens.module.css";

const LINE_PX = 22;
/** Width of a character of the font, by its size. */
const CHARACTER_PX = 7.83;
const PADDING_PX = 12;
/** Lines above and below those in sight that are drawn too, so that scrolling shows no gap. */
const AHEAD = 12;

interface Props {
  tokens: Tokens;
  painted: Painted;
  /** Tokens that are folded to one line. */
  fold: Fold | null;
  onUnfold: () => void;
  /** The token that is looked at. */
  current: number | null;
  onCurrent: (token: number) => void;
  /** The token under the pointer. */
  onHover: (token: number | null) => void;
}

export function TokenView({ tokens, painted, fold, onUnfold, current, onCurrent, onHover }: Props) {
  const { ref: sized, width, height } = useElementSize<HTMLDivElement>();
  const box = useRef<HTMLDivElement>(null);
  const ref = useMergedRef(sized, box);
  const [top, setTop] = useState(0);
  const columns = Math.max(16, Math.floor((width - 2 * PADDING_PX) / CHARACTER_PX));
  const lines = useMemo(() => setLines(tokens.texts, columns, fold), [tokens, columns, fold]);

  useEffect(() => {
    const view = box.current;
    if (current === null || !view || width === 0) return;
    const line = lineOf(lines, current);
    const at = line * LINE_PX;
    if (line >= 0 && (at < view.scrollTop || at > view.scrollTop + view.clientHeight - 2 * LINE_PX))
      view.scrollTop = at - view.clientHeight / 2;
  }, [current, lines, width]);

  const from = Math.max(0, Math.floor(top / LINE_PX) - AHEAD);
  const to = Math.min(lines.length, Math.ceil((top + height) / LINE_PX) + AHEAD);
  const move = (event: KeyboardEvent) => {
    const next = moved(event.key, current ?? -1, lines);
    if (next === null) return;
    event.preventDefault();
    onCurrent(next);
  };
  return (
    <div
      ref={ref}
      className={classes.view}
      role="listbox"
      tabIndex={0}
      aria-label="Tokens"
      aria-activedescendant={current === null ? undefined : `token-${current}`}
      data-testid="token-view"
      data-lines={lines.length}
      onScroll={event => setTop(event.currentTarget.scrollTop)}
      onPointerOver={event => onHover(tokenOf(event))}
      onPointerLeave={() => onHover(null)}
      onClick={event => {
        const token = tokenOf(event);
        if (token !== null) onCurrent(token);
      }}
      onKeyDown={move}
    >
      <div style={{ height: lines.length * LINE_PX }} className={classes.sheet}>
        {lines.slice(from, to).map((line, place) => (
          <div
            key={from + place}
            className={classes.line}
            style={{ top: (from + place) * LINE_PX }}
            role="presentation"
          >
            {line.kind === "fold" ? (
              <Button size="compact-xs" variant="light" color="gray" onClick={onUnfold} data-testid="unfold">
                {formatCount(line.to - line.from)} tokens of thinking
              </Button>
            ) : (
              line.pieces.map(piece => (
                <Token key={piece.token} {...piece} painted={painted} current={piece.token === current} />
              ))
            )}
          </div>
        ))}
      </div>
    </div>
  );
}

function Token(props: { token: number; text: string; painted: Painted; current: boolean }) {
  const shade = props.painted.shade(props.token);
  return (
    <span
      id={`token-${props.token}`}
      role="option"
      aria-selected={props.current}
      data-token={props.token}
      className={classes.token}
      style={shade ? { backgroundColor: cellColor(shade) } : undefined}
    >
      {props.text}
    </span>
  );
}

export function cellColor({ tone, level }: { tone: string; level: number }): string {
  return `color-mix(in srgb, ${tone} ${Math.round((level / LEVELS) * 62)}%, transparent)`;
}

function tokenOf(event: PointerEvent | React.MouseEvent): number | null {
  const found = (event.target as HTMLElement).closest<HTMLElement>("[data-token]")?.dataset.token;
  return found === undefined ? null : Number(found);
}

/** The token that a key leads to; null for keys that lead nowhere. */
function moved(key: string, current: number, lines: Line[]): number | null {
  const line = lineOf(lines, current);
  const first = (start: number, step: number) => {
    for (let place = start; place >= 0 && place < lines.length; place += step) {
      const found = lines[place];
      if (found?.kind === "tokens" && found.pieces[0]) return found.pieces[0].token;
    }
    return null;
  };
  const order = lines.flatMap(one => (one.kind === "tokens" ? one.pieces.map(piece => piece.token) : []));
  const at = order.lastIndexOf(current);
  switch (key) {
    case "ArrowRight":
      return order[at + 1] ?? null;
    case "ArrowLeft":
      return order[order.indexOf(current) - 1] ?? null;
    case "ArrowDown":
      return first(line + 1, 1);
    case "ArrowUp":
      return line > 0 ? first(line - 1, -1) : null;
    case "Home":
      return order[0] ?? null;
    case "End":
      return order.at(-1) ?? null;
    default:
      return null;
  }
}
