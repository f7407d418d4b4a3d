/** Shows whether a block is live or frozen. */
import { Badge, Tooltip } from "@mantine/core";
import { IconActivity, IconSnowflake } from "@tabler/icons-react";
import { formatInstant } from "./instant";

export function Freshness({ asOf }: { asOf: string | null | undefined }) {
  if (!asOf)
    return (
      <Tooltip label="Updates while its runs continue">
        <Badge variant="light" color="petrol" leftSection={<IconActivity size={11} />}>
          Live
        </Badge>
      </Tooltip>
    );
  return (
    <Tooltip label="Data up to then, without later or repeated steps">
      <Badge variant="light" color="gray" leftSection={<IconSnowflake size={11} />}>
        Frozen at {formatInstant(asOf)}
      </Badge>
    </Tooltip>
  );
}
