import { Box } from "@mantine/core";
import { type ReactNode, useEffect, useRef, useState } from "react";
import ui from "./ui.module.css";

/** A long text in a cell, which scrolls: a stop of the tab key only where it does, so that keys can scroll it. */
export function ScrollCell({ children }: { children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const [scrolls, setScrolls] = useState(false);
  useEffect(() => {
    const { current } = box;
    if (current) setScrolls(current.scrollHeight > current.clientHeight || current.scrollWidth > current.clientWidth);
  }, [children]);
  return (
    <Box ref={box} className={ui.cell} tabIndex={scrolls ? 0 : undefined}>
      {children}
    </Box>
  );
}
