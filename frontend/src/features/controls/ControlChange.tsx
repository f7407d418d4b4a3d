/** "Thinking budget 32 → 8". */
import { Text } from "@mantine/core";
import type { Control } from "@/api/model";
import { formatValue } from "@/lib/format";
import { targetLabel } from "./labels";

export function ControlChange({ control }: { control: Pick<Control, "target" | "before" | "value"> }) {
  return (
    <Text size="sm" fw={550} component="span">
      {targetLabel(control.target)}{" "}
      <Text component="span" size="sm" className="num" fw={400} style={{ whiteSpace: "nowrap" }}>
        {formatValue(control.before)} → {formatValue(control.value)}
      </Text>
    </Text>
  );
}
