/** Markdown as elements: formulas and code as all other text of people has them. It comes late, with its libraries. */
import { Anchor, Box } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { memo, type ReactNode, useId, useMemo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { coloured, formula } from "./DrawnParts";
import { elements } from "./elements";
import { ranked } from "./headings";
import { bounded } from "./markdown-bounds";
import { type Formula, formulaAt, unmarked, withoutFormulas } from "./markdown-source";
import written from "./written.module.css";

export default memo(function DrawnMarkdown({ text }: { text: string }) {
  const { markdown, formulas } = useMemo(() => withoutFormulas(text), [text]);
  const components = useMemo(() => componentsWith(formulas), [formulas]);
  const plugins = useMemo(() => [bounded, remarkGfm, ranked, unmarked(formulas)], [formulas]);
  // Texts of one page may all have a first footnote.
  const id = useId();
  const toHast = useMemo(() => ({ clobberPrefix: `${id}-`, footnoteLabelTagName: "p" }), [id]);
  return (
    <ReactMarkdown remarkPlugins={plugins} remarkRehypeOptions={toHast} components={components}>
      {markdown}
    </ReactMarkdown>
  );
});

/** Pictures of elsewhere are links to them. */
function componentsWith(formulas: Formula[]): Components {
  return {
    a: ({ href = "", children, id, "aria-label": label }) => <OneLink {...{ href, id, label }}>{children}</OneLink>,
    img: ({ src, alt }) => <OneLink href={String(src ?? "")}>{alt || String(src)}</OneLink>,
    input: ({ checked }) => <input type="checkbox" checked={checked} readOnly disabled aria-label="To do" />,
    table: ({ children }) => (
      <Box role="group" aria-label="Table" tabIndex={0} style={{ overflowX: "auto" }}>
        <table>{children}</table>
      </Box>
    ),
    pre: ({ children }) => <pre>{children}</pre>,
    code: ({ className = "", children }) => <OneCode {...{ className, formulas }}>{String(children)}</OneCode>,
  };
}

interface LinkProps {
  href: string;
  /** Of a footnote's sign: where the footnote leads back to. */
  id?: string;
  /** Of the way back. */
  label?: string;
  children: ReactNode;
}

function OneLink({ href, id, label, children }: LinkProps) {
  // What may not be followed, as a script, has lost its address.
  if (!href) return <>{children}</>;
  if (href.startsWith("#"))
    return (
      <Anchor href={href} underline="always" inherit id={id} aria-label={label}>
        {children}
      </Anchor>
    );
  if (/^\/(?![/\\])/.test(href))
    return (
      <Anchor component={Link} to={href} underline="always" inherit>
        {children}
      </Anchor>
    );
  return (
    <Anchor href={href} target="_blank" rel="noreferrer noopener" underline="always" inherit>
      {children}
    </Anchor>
  );
}

interface CodeProps {
  className: string;
  formulas: Formula[];
  children: string;
}

function OneCode({ className, formulas, children: code }: CodeProps) {
  const found = formulaAt(code, formulas);
  if (found) {
    const html = formula(found.tex, found.display);
    if (html === null) return <span title="Invalid formula; its source is shown.">{found.text}</span>;
    return <span className={found.display ? written.display : undefined}>{elements(html)}</span>;
  }
  const language = /language-(\S+)/.exec(className)?.[1];
  if (language === undefined && !code.includes("\n")) return <code>{code}</code>;
  return (
    <code className={written.code} data-language={language}>
      {elements(coloured(code.replace(/\n$/, ""), language ?? ""))}
    </code>
  );
}
