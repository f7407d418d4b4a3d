import { useState } from "react";
import { newKey } from "./key";

/**
 * Keys of rows that move, come and go: a row keeps its own, and with it the focus and what is typed in it. The setter
 * takes the keys of the changed list.
 */
export function useRowKeys(count: number): [string[], (next: string[]) => void] {
  const [kept, setKept] = useState<string[]>(() => Array.from({ length: count }, newKey));
  // A list that was replaced as a whole may be longer than what is known of it.
  return [Array.from({ length: count }, (_, index) => kept[index] ?? `row-${index}`), setKept];
}
