import { Fragment } from "react";
import classes from "./ui.module.css";

/**
 * Characters that cannot be seen, or that change the order in which others are shown: controls, marks and overrides of
 * direction, zero-width spaces, tags. Tabs and line ends are left alone.
 */
const HIDDEN =
  /(?![\t\n])[\p{Cc}\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|\u034f|[\u{e0000}-\u{e007f}]|(?<=^|\p{ASCII}|[\u0080-\u024f])(?:\u200c|\u200d)/gu;

/** A carriage return in front of a line feed is a line end of Windows. */
const LINE_END = "\r\n";

const NAMES: Record<string, string> = {
  "\u00ad": "soft hyphen",
  "\u200b": "zero-width space",
  "\u200c": "zero-width non-joiner",
  "\u200d": "zero-width joiner",
  "\u200e": "left-to-right mark",
  "\u200f": "right-to-left mark",
  "\u202a": "left-to-right embedding",
  "\u202b": "right-to-left embedding",
  "\u202c": "end of direction",
  "\u202d": "left-to-right override",
  "\u202e": "right-to-left override",
  "\u2066": "left-to-right isolate",
  "\u2067": "right-to-left isolate",
  "\u2068": "first-strong isolate",
  "\u2069": "end of isolate",
  "\ufeff": "byte order mark",
};

/** Text of a dataset in which each hidden character is replaced by its code, so that it neither hides nor acts. */
export function MarkedText({ children: text }: { children: string }) {
  const parts = markedParts(text);
  if (parts.length === 1 && !parts[0]!.hidden) return <>{text}</>;
  return parts.map(({ text: part, hidden }, place) =>
    hidden ? (
      <span key={place} className={classes.hidden} title={NAMES[part] ?? "control character"} data-testid="hidden-sign">
        {code(part)}
      </span>
    ) : (
      <Fragment key={place}>{part}</Fragment>
    ),
  );
}

interface Part {
  text: string;
  hidden: boolean;
}

/** The text in parts, each hidden character a part of its own. */
export function markedParts(text: string): Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const found of text.matchAll(HIDDEN)) {
    if (text.startsWith(LINE_END, found.index)) continue;
    if (found.index > end) parts.push({ text: text.slice(end, found.index), hidden: false });
    parts.push({ text: found[0], hidden: true });
    end = found.index + found[0].length;
  }
  if (end < text.length || parts.length === 0) parts.push({ text: text.slice(end), hidden: false });
  return parts;
}

function code(sign: string): string {
  return `U+${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
}
