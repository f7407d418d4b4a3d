/** Text of a row or a completion: formulas and code drawn, and its exact source at one click. */
import { ActionIcon, Tooltip } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { IconCode, IconMathFunction } from "@tabler/icons-react";
import { type ReactNode, Suspense, useMemo } from "react";
import { lazily } from "./lazily";
import { MarkedText } from "./MarkedText";
import { Otherwise } from "./Otherwise";
import { Pre } from "./Pre";
import { parts as partsOf } from "./written-parts";
import classes from "./written.module.css";

const Drawn = lazily(() => import("./DrawnParts").then(m => m.default));

interface Props {
  label: string;
  className?: string;
  children: string;
}

export function Written({ label, className, children: text }: Props) {
  const [source, setSource] = useLocalStorage({
    key: "dressage.source",
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  const parts = useMemo(() => partsOf(text), [text]);
  if (parts.every(part => part.kind === "text"))
    return (
      <Pre label={label} className={className}>
        <MarkedText>{text}</MarkedText>
      </Pre>
    );
  const title = source ? "Render formulas and code" : "Show source";
  return (
    <div className={classes.frame} data-drawn={!source}>
      <Tooltip label={title}>
        <ActionIcon
          className={classes.toggle}
          size="sm"
          variant="subtle"
          color="gray"
          aria-label={title}
          aria-pressed={source}
          onClick={() => setSource(!source)}
        >
          {source ? <IconMathFunction size={14} /> : <IconCode size={14} />}
        </ActionIcon>
      </Tooltip>
      <Pre label={label} className={className}>
        {source ? <MarkedText>{text}</MarkedText> : drawn(text, <Drawn parts={parts} />)}
      </Pre>
    </div>
  );
}

/** The source until the libraries have come, and where they do not come. */
const drawn = (text: string, node: ReactNode) => (
  <Otherwise of={text} otherwise={text}>
    <Suspense fallback={text}>{node}</Suspense>
  </Otherwise>
);
