import { Alert, Button, Group, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { Query } from "@tanstack/react-query";
import { errorText } from "@/api/http";
import { humanize } from "@/lib/format";
import { useUntoldFailures } from "./failed";
import classes from "./shell.module.css";

/** Lists the parts of the page that failed to load, so that a failure does not look like an empty list. */
export function FailedParts() {
  const failed = useUntoldFailures();
  if (failed.length === 0) return null;
  const reasons = [...new Set(failed.map(query => errorText(query.state.error)))];
  return (
    <Alert
      color="red"
      variant="default"
      role="alert"
      className={classes.failed}
      icon={<IconAlertTriangle size={18} />}
      title="Some of this page could not be loaded"
    >
      <Text size="sm">
        {[...new Set(failed.map(partName))].join(", ")}: {reasons.join(" ")}
      </Text>
      <Group mt="xs">
        <Button size="xs" variant="default" onClick={() => failed.forEach(query => void query.fetch().catch(() => {}))}>
          Try again
        </Button>
      </Group>
    </Alert>
  );
}

/** The subject of a query: the last word of its key, since keys go from the object to its part. */
function partName(query: Query): string {
  const words = query.queryKey.filter(
    (part): part is string => typeof part === "string" && /^[a-z][a-z -]*$/.test(part),
  );
  return humanize(words.at(-1) ?? "data");
}
