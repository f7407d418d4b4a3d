/** Prints the page once all of its charts are read and drawn, in light colours. */
import { useMantineColorScheme } from "@mantine/core";
import { useIsFetching } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";

/** Frames after the last answer: charts measure themselves, then draw. */
const DRAWN_AFTER = 400;

export function usePrint() {
  const [isPrinting, setPrinting] = useState(false);
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const fetching = useIsFetching({ predicate: query => query.state.data === undefined });
  // What is drawn for paper alone is drawn once the colours are those of paper.
  const isWhole = isPrinting && colorScheme === "light";
  const print = useCallback(() => setPrinting(true), []);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key === "p") {
        event.preventDefault();
        print();
      }
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [print]);
  useEffect(() => {
    if (isPrinting && colorScheme !== "light") {
      setColorScheme("light");
      return () => setColorScheme(colorScheme);
    }
    // The scheme from before comes back when the printing ends, and not when this has changed it.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [isPrinting]);
  useEffect(() => {
    if (!isWhole || fetching > 0) return;
    const timer = window.setTimeout(() => {
      window.print();
      setPrinting(false);
    }, DRAWN_AFTER);
    return () => window.clearTimeout(timer);
  }, [isWhole, fetching]);
  return { isPrinting, isWhole, print };
}
