/** Whether a block is live or frozen. */
import { Button, Input } from "@mantine/core";
import { IconActivity, IconSnowflake } from "@tabler/icons-react";
import { formatInstant } from "./instant";

interface Props {
  asOf: string | null | undefined;
  onChange: (next: string | null) => void;
}

export function Freeze({ asOf, onChange }: Props) {
  return (
    <Input.Wrapper
      label="Over time"
      size="xs"
      labelElement="div"
      description={asOf ? `Frozen at ${formatInstant(asOf)}.` : "Live."}
    >
      <Button
        mt={4}
        size="xs"
        variant="default"
        leftSection={asOf ? <IconActivity size={14} /> : <IconSnowflake size={14} />}
        onClick={() => onChange(asOf ? null : new Date().toISOString())}
      >
        {asOf ? "Unfreeze" : "Freeze now"}
      </Button>
    </Input.Wrapper>
  );
}
