import { ActionIcon, Badge, Group, Text, Textarea, TextInput, Tooltip } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconCopy, IconTrash } from "@tabler/icons-react";
import type { KeyboardEvent } from "react";
import { useForm } from "@/features/schema-form/context";
import { NumberField } from "@/features/schema-form/NumberField";
import { faultText, type Path } from "@/features/schema-form/pointer";
import { formatPercent } from "@/lib/format";
import classes from "./rubric.module.css";
import { faultsOf, isPitfall, type RubricItem, shareOf } from "./rubric";

interface Props {
  item: RubricItem;
  index: number;
  items: RubricItem[];
  path: Path;
  onChange: (change: Partial<RubricItem>) => void;
  onMove: (to: number) => void;
  onDuplicate?: () => void;
  onDelete: () => void;
}

/** One item. Alt with an arrow key moves it from any of its fields. */
export function RubricItemRow({ item, index, items, path, onChange, onMove, onDuplicate, onDelete }: Props) {
  const { errors, readOnly } = useForm();
  const faults = faultsOf(item, index, items);
  const said = (field: keyof RubricItem) => faultText(errors, [...path, field]);
  // A field that is still empty is not scolded before the platform has seen it; a name used twice is.
  const error = (field: keyof RubricItem) => said(field) ?? (item[field] === "" ? undefined : faults[field]);
  const share = shareOf(item, items);
  const pitfall = isPitfall(item);
  const label = item.name || `item ${index + 1}`;
  const onKeyDown = (event: KeyboardEvent) => {
    if (!event.altKey || readOnly || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
    event.preventDefault();
    onMove(index + (event.key === "ArrowUp" ? -1 : 1));
  };
  return (
    // The keys are a short cut for the buttons of the row, which do the same.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <li
      className={classes.item}
      data-pitfall={pitfall || undefined}
      data-testid="rubric-item"
      data-name={item.name}
      onKeyDown={onKeyDown}
    >
      <div className={classes.head}>
        <span className={`num ${classes.number}`}>{index + 1}</span>
        <TextInput
          className={classes.name}
          size="xs"
          aria-label={`Name of item ${index + 1}`}
          placeholder="name"
          value={item.name}
          onChange={event => onChange({ name: event.currentTarget.value })}
          error={error("name")}
          disabled={readOnly}
          styles={{ input: { fontWeight: 550 } }}
        />
        <div className={classes.weight}>
          <NumberField
            size="xs"
            ariaLabel={`Weight of ${label}`}
            value={item.weight}
            onChange={weight => onChange({ weight })}
            error={said("weight") ?? faults.weight}
            disabled={readOnly}
          />
        </div>
        <div className={classes.share}>
          {pitfall ? (
            <Badge color="red">pitfall {formatPercent(share)}</Badge>
          ) : (
            <Text size="xs" c="dimmed" className="num">
              {formatPercent(share)}
            </Text>
          )}
        </div>
        {!readOnly && (
          <Group gap={0} wrap="nowrap" className={classes.tools}>
            <Tool label="Move up" of={label} onClick={() => onMove(index - 1)} disabled={index === 0}>
              <IconArrowUp size={14} />
            </Tool>
            <Tool label="Move down" of={label} onClick={() => onMove(index + 1)} disabled={index === items.length - 1}>
              <IconArrowDown size={14} />
            </Tool>
            <Tool label="Duplicate" of={label} onClick={onDuplicate} disabled={!onDuplicate}>
              <IconCopy size={14} />
            </Tool>
            <Tool label="Delete" of={label} onClick={onDelete}>
              <IconTrash size={14} />
            </Tool>
          </Group>
        )}
      </div>
      <Textarea
        size="xs"
        aria-label={`Description of ${label}`}
        placeholder={pitfall ? "What the answer must not do" : "What a good answer does"}
        autosize
        minRows={1}
        maxRows={8}
        value={item.description}
        onChange={event => onChange({ description: event.currentTarget.value })}
        error={error("description")}
        disabled={readOnly}
      />
    </li>
  );
}

interface ToolProps {
  label: string;
  of: string;
  onClick?: () => void;
  disabled?: boolean;
  children: React.ReactNode;
}

function Tool({ label, of, onClick, disabled, children }: ToolProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon size="sm" aria-label={`${label}: ${of}`} onClick={onClick} disabled={disabled}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}
