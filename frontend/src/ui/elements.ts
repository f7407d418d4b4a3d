/**
 * React elements of markup that a library wrote. It is parsed into an inert document, and only elements and
 * attributes of formulas and coloured code are taken over, so that a hole in a library stays a hole in its text.
 */
import { createElement, type ReactNode } from "react";

const ELEMENTS = new Set(
  (
    "span math semantics mrow mi mn mo ms mtext mspace msup msub msubsup munder mover munderover mmultiscripts " +
    "mfrac msqrt mroot mstyle mpadded mphantom menclose mtable mtr mtd"
  ).split(" "),
);

const ATTRIBUTES = new Set(
  (
    "class accent accentunder columnalign columnlines columnspacing depth display displaystyle fence height largeop " +
    "linebreak linethickness lspace mathbackground mathcolor mathsize mathvariant maxsize minsize notation rowlines " +
    "rowspacing rspace scriptlevel separator stretchy voffset width"
  ).split(" "),
);

/** The elements of `markup`; any other element, with all that is in it, and any other attribute is left out. */
export function elements(markup: string): ReactNode[] {
  const { body } = new DOMParser().parseFromString(markup, "text/html");
  return children(body);
}

const children = (parent: Node): ReactNode[] => [...parent.childNodes].map(node);

function node(child: Node, key: number): ReactNode {
  if (child.nodeType === Node.TEXT_NODE) return child.nodeValue;
  if (!(child instanceof Element) || !ELEMENTS.has(child.localName)) return null;
  const properties: Record<string, string | number> = { key };
  for (const { name, value } of child.attributes)
    if (ATTRIBUTES.has(name)) properties[name === "class" ? "className" : name] = value;
  return createElement(child.localName, properties, ...children(child));
}
