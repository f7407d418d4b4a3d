import { Paper } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./ui.module.css";

/** Around a table that may be wider than the screen: it scrolls inside, by keyboard too. */
export function TableFrame({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Paper className={classes.tableFrame} role="region" aria-label={label} tabIndex={0}>
      {children}
    </Paper>
  );
}
