import { Box } from "@mantine/core";
import rollouts from "./rollouts.module.css";

/** Text as it was written. It may scroll, so it can be reached by keyboard. */
export function Pre({ label, className, children }: { label: string; className?: string; children: string }) {
  return (
    <Box
      component="pre"
      tabIndex={0}
      role="region"
      aria-label={label}
      className={className ? `${rollouts.pre} ${className}` : rollouts.pre}
    >
      {children || " "}
    </Box>
  );
}
