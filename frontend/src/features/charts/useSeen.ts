import { useIntersection } from "@mantine/hooks";
import { useContext, useState } from "react";
import { WholePage } from "./wholePage";

/** Whether an element has come near the screen. Its content is loaded from then on. */
export function useSeen() {
  const { ref, entry } = useIntersection<HTMLDivElement>({ rootMargin: "600px" });
  const [seen, setSeen] = useState(false);
  const whole = useContext(WholePage);
  if ((entry?.isIntersecting || whole) && !seen) setSeen(true);
  return { ref, seen };
}
