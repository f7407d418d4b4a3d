import { Box } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./ui.module.css";

interface Props {
  label: string;
  className?: string;
  /** As high as its text, in the place of a box that scrolls. */
  whole?: boolean;
  /** A text, or one that has been drawn. */
  children: ReactNode;
}

/** Text as it was written. It may scroll, so it can be reached by keyboard. */
export function Pre({ label, className = "", whole = false, children }: Props) {
  return (
    <Box
      component="pre"
      tabIndex={0}
      role="region"
      aria-label={label}
      className={`${classes.pre} ${className}`}
      mah={whole ? "none" : undefined}
    >
      {children || " "}
    </Box>
  );
}
