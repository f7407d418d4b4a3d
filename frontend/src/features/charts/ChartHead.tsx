/** A chart's title, explanation and switches. Separate, so that steps of a live run do not redraw them. */
import { ActionIcon, Group, Text, Title, Tooltip } from "@mantine/core";
import { type Icon, IconInfoCircle, IconMathFunction, IconPin, IconTable } from "@tabler/icons-react";
import { memo, type ReactNode } from "react";
import type { ChartSpec } from "./charts";
import classes from "./charts.module.css";

interface Props {
  chart: ChartSpec;
  isPinned: boolean;
  log: boolean;
  table: boolean;
  /** Undefined if charts cannot be pinned. */
  onPin?: (id: string) => void;
  onLog: () => void;
  onTable: (on: boolean) => void;
  /** Content before the switches. */
  children?: ReactNode;
}

export const ChartHead = memo(function ChartHead({ chart, isPinned, log, table, children, ...on }: Props) {
  const { onPin, onLog, onTable } = on;
  return (
    <div className={classes.head}>
      <Title order={2} size="h3" style={{ whiteSpace: "nowrap", overflow: "hidden", textOverflow: "ellipsis" }}>
        {chart.title}
        {chart.unit && (
          <Text component="span" size="xs" c="dimmed" ml={6}>
            {chart.unit}
          </Text>
        )}
      </Title>
      <Tooltip label={chart.hint} events={{ hover: true, focus: true, touch: true }}>
        <span
          className="no-print"
          tabIndex={0}
          role="note"
          aria-label={chart.hint}
          style={{ display: "inline-flex", borderRadius: 8 }}
        >
          <IconInfoCircle size={14} color="var(--c-text-3)" aria-hidden="true" />
        </span>
      </Tooltip>
      <Group gap={2} ml="auto" wrap="nowrap" className="no-print">
        {children}
        {onPin && (
          <Toggle
            label="Pin"
            hint={isPinned ? "Unpin" : "Pin to the top in all runs"}
            isOn={isPinned}
            icon={IconPin}
            onClick={() => onPin(chart.id)}
          />
        )}
        <Toggle
          label="Logarithmic axis"
          hint={log ? "Linear axis" : "Logarithmic axis"}
          isOn={log}
          icon={IconMathFunction}
          onClick={onLog}
        />
        <Toggle
          label="Data table"
          hint={table ? "Show chart" : "Show data as a table"}
          isOn={table}
          icon={IconTable}
          onClick={() => onTable(!table)}
        />
      </Group>
    </div>
  );
});

interface ToggleProps {
  label: string;
  /** What a click does. */
  hint: string;
  isOn: boolean;
  icon: Icon;
  onClick: () => void;
}

function Toggle({ label, hint, isOn, icon: Sign, onClick }: ToggleProps) {
  return (
    <Tooltip label={hint}>
      <ActionIcon
        size="sm"
        aria-label={label}
        aria-pressed={isOn}
        variant={isOn ? "light" : "subtle"}
        onClick={onClick}
      >
        <Sign size={14} />
      </ActionIcon>
    </Tooltip>
  );
}
