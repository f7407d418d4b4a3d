/** Charts that a person wants first, in every run. They are kept in the browser. */
import { useLocalStorage } from "@mantine/hooks";
import { useCallback } from "react";

export function usePins() {
  const [pins, setPins] = useLocalStorage<string[]>({
    key: "dressage.pinned-charts",
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const toggle = useCallback(
    (id: string) => setPins(now => (now.includes(id) ? now.filter(one => one !== id) : [...now, id])),
    [setPins],
  );
  return { pins, toggle };
}
