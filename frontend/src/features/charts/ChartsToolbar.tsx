/** What is drawn, over which axis, how smooth. All of it is in the address. */
import {
  ActionIcon,
  Button,
  CloseButton,
  Group,
  Popover,
  SegmentedControl,
  Slider,
  Text,
  TextInput,
} from "@mantine/core";
import { IconEye, IconSearch, IconWaveSine, IconZoomReset } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Run, XAxis } from "@/api/model";
import type { ChartsSearch } from "@/entities/runs/search";
import ui from "@/ui/ui.module.css";
import { axisChoices } from "./axes";
import classes from "./charts.module.css";

interface Props {
  /** Whose charts they are. */
  runs: Pick<Run, "cost">[];
  search: ChartsSearch;
  /** What a drag and a click do. */
  hint: string;
  children?: ReactNode;
  onChange: (change: Partial<ChartsSearch>) => void;
}

export function ChartsToolbar({ runs, search, hint, children, onChange }: Props) {
  const { x = "step", smooth = 0, find = "", hide, from, to } = search;
  const smoothing = (
    <Slider
      w={110}
      size="xs"
      min={0}
      max={0.98}
      step={0.02}
      label={value => value.toFixed(2)}
      value={smooth}
      onChange={next => onChange({ smooth: next > 0 ? Number(next.toFixed(2)) : undefined })}
      thumbLabel="Smoothing"
    />
  );
  return (
    <div className={`${ui.toolbar} ${classes.toolbar}`}>
      <SegmentedControl
        size="xs"
        aria-label="X axis"
        data={axisChoices(runs, x).map(({ label, hint, ...choice }) => ({
          ...choice,
          label: <span title={hint}>{label}</span>,
        }))}
        value={x}
        onChange={next =>
          onChange({ x: next === "step" ? undefined : (next as XAxis), from: undefined, to: undefined })
        }
      />
      <Group gap={8} wrap="nowrap" visibleFrom="sm">
        <Text size="xs" c="dimmed">
          Smoothing
        </Text>
        {smoothing}
      </Group>
      <Popover position="bottom" shadow="md" withArrow>
        <Popover.Target>
          <ActionIcon size={30} variant="default" aria-label="Smoothing" hiddenFrom="sm">
            <IconWaveSine size={15} />
          </ActionIcon>
        </Popover.Target>
        <Popover.Dropdown>{smoothing}</Popover.Dropdown>
      </Popover>
      <TextInput
        size="xs"
        className={classes.find}
        aria-label="Find a metric"
        placeholder="Find a metric"
        leftSection={<IconSearch size={14} />}
        rightSection={
          find && <CloseButton size="sm" aria-label="Show all charts" onClick={() => onChange({ find: undefined })} />
        }
        value={find}
        maxLength={100}
        onChange={event => onChange({ find: event.currentTarget.value || undefined })}
        onKeyDown={event => event.key === "Escape" && find && onChange({ find: undefined })}
      />
      {from !== undefined && to !== undefined && (
        <Button
          size="compact-xs"
          variant="light"
          leftSection={<IconZoomReset size={14} />}
          onClick={() => onChange({ from: undefined, to: undefined })}
        >
          Reset zoom
        </Button>
      )}
      {hide && (
        <Button
          size="compact-xs"
          variant="light"
          leftSection={<IconEye size={14} />}
          onClick={() => onChange({ hide: undefined })}
        >
          Show hidden lines
        </Button>
      )}
      {children}
      <Text size="xs" c="dimmed" ml="auto" visibleFrom="md">
        {hint}
      </Text>
    </div>
  );
}
