import { Text } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./ui.module.css";

/** Label and value pairs in a grid. */
export function Facts({ facts }: { facts: [string, ReactNode][] }) {
  return (
    <dl className={classes.facts} style={{ margin: 0 }}>
      {facts.map(([label, value]) => (
        <div key={label} style={{ minWidth: 0 }}>
          <Text component="dt" size="xs" c="dimmed">
            {label}
          </Text>
          <Text component="dd" size="sm" m={0} className="num" style={{ overflowWrap: "anywhere" }}>
            {value}
          </Text>
        </div>
      ))}
    </dl>
  );
}
