/** The items of a rubric: what a judge looks for, what it counts, and in which order it is shown. */
import { Badge, Button, Group, Text } from "@mantine/core";
import { IconAlertOctagon, IconPlus } from "@tabler/icons-react";
import type { Json } from "@/api/model";
import { useForm } from "@/features/schema-form/context";
import { faultText, type Path } from "@/features/schema-form/pointer";
import { newKey } from "@/lib/key";
import { formatNumber } from "@/lib/format";
import { useRowKeys } from "@/lib/useRowKeys";
import classes from "./rubric.module.css";
import { duplicate, isPitfall, itemsOf, move, newItem, positiveTotal, type RubricItem } from "./rubric";
import { RubricItemRow } from "./RubricItemRow";

interface Props {
  path: Path;
  value: Json | undefined;
  onChange: (value: Json) => void;
  max?: number;
}

export function RubricItems({ path, value, onChange, max = 64 }: Props) {
  const { errors, readOnly } = useForm();
  const items = itemsOf(value);
  const [keys, setKeys] = useRowKeys(items.length);
  const set = (next: RubricItem[], nextKeys: string[]) => {
    setKeys(nextKeys);
    onChange(next);
  };
  const replace = (index: number, change: Partial<RubricItem>) =>
    set(
      items.map((one, at) => (at === index ? { ...one, ...change } : one)),
      keys,
    );
  const reorder = (from: number, to: number) => set(move(items, from, to), move(keys, from, to));
  const add = (weight: number) => set([...items, newItem(items, weight)], [...keys, newKey()]);
  const pitfalls = items.filter(isPitfall).length;
  const own = faultText(errors, path);
  return (
    <section aria-label="Rubric items" data-testid="rubric-items">
      <Group justify="space-between" gap="xs" mb={6}>
        <Group gap={8}>
          <Text size="sm" fw={550}>
            Items
          </Text>
          <Text size="xs" c="dimmed" className="num" data-testid="rubric-total" role="status">
            {items.length} {items.length === 1 ? "item" : "items"} · positive weights{" "}
            {formatNumber(positiveTotal(items))}
          </Text>
          {pitfalls > 0 && (
            <Badge color="red">
              {pitfalls} {pitfalls === 1 ? "pitfall" : "pitfalls"}
            </Badge>
          )}
        </Group>
        {!readOnly && items.length < max && (
          <Group gap={4}>
            <Button
              size="compact-xs"
              variant="subtle"
              leftSection={<IconPlus size={13} />}
              onClick={() => add(1)}
              data-testid="add-item"
            >
              Add item
            </Button>
            <Button
              size="compact-xs"
              variant="subtle"
              color="red"
              leftSection={<IconAlertOctagon size={13} />}
              onClick={() => add(-1)}
              data-testid="add-pitfall"
            >
              Add pitfall
            </Button>
          </Group>
        )}
      </Group>
      {items.length === 0 && (
        <Text size="sm" c="dimmed" py={6}>
          No items. The judge uses only those of the dataset row.
        </Text>
      )}
      <ol className={classes.items}>
        {items.map((item, index) => (
          <RubricItemRow
            key={keys[index]}
            item={item}
            index={index}
            items={items}
            path={[...path, index]}
            onChange={change => replace(index, change)}
            onMove={to => reorder(index, to)}
            onDuplicate={
              items.length < max
                ? () => set(duplicate(items, index), [...keys.slice(0, index + 1), newKey(), ...keys.slice(index + 1)])
                : undefined
            }
            onDelete={() =>
              set(
                items.filter((_, at) => at !== index),
                keys.filter((_, at) => at !== index),
              )
            }
          />
        ))}
      </ol>
      {own && (
        <Text size="xs" c="var(--c-bad)" role="alert">
          {own}
        </Text>
      )}
    </section>
  );
}
