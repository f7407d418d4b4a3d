/** Parts of a text with formulas as MathML and code in colours. It comes with its libraries, so it is loaded late. */
import hljs from "highlight.js/lib/common";
import katex from "katex";
import { memo } from "react";
import { elements } from "./elements";
import { MarkedText, markedParts } from "./MarkedText";
import type { Part } from "./written-parts";
import classes from "./written.module.css";

export default memo(function Drawn({ parts }: { parts: Part[] }) {
  return parts.map((part, index) => <OnePart key={index} part={part} />);
});

function OnePart({ part }: { part: Part }) {
  // Code and formulas are drawn by libraries, which know no marks.
  if (part.kind === "text" || markedParts(part.text).length > 1) return <MarkedText>{part.text}</MarkedText>;
  if (part.kind === "code")
    return (
      <code className={classes.code} data-language={part.language || undefined}>
        {elements(coloured(part.code, part.language))}
      </code>
    );
  const html = formula(part.tex, part.display);
  if (html === null) return <span title="Invalid formula; its source is shown.">{part.text}</span>;
  return <span className={part.display ? classes.display : undefined}>{elements(html)}</span>;
}

/** The formula as markup, which may name no link and no file (`trust`); null if it cannot be read. */
export function formula(tex: string, displayMode: boolean): string | null {
  const options = { displayMode, output: "mathml", trust: false, strict: false, maxSize: 20, maxExpand: 200 } as const;
  try {
    return katex.renderToString(tex, options);
  } catch {
    return null;
  }
}

/** The code as markup, in colours where its language is known. */
export function coloured(code: string, language: string): string {
  const known = hljs.getLanguage(language) ? language : "plaintext";
  return hljs.highlight(code, { language: known, ignoreIllegals: true }).value;
}
