import { useIntersection } from "@mantine/hooks";
import { useState } from "react";

/** Whether an element has come near the screen: what stands in it is read from then on. */
export function useSeen() {
  const { ref, entry } = useIntersection<HTMLDivElement>({ rootMargin: "600px" });
  const [seen, setSeen] = useState(false);
  if (entry?.isIntersecting && !seen) setSeen(true);
  return { ref, seen };
}
