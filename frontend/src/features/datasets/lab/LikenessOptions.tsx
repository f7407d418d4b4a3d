/** The similarity from which rows count as equal, and whether their numbers must agree. */
import { Checkbox, NumberInput } from "@mantine/core";

/** Per cent; a text while it is being written. */
export interface Likeness {
  from: number | string;
  sameNumbers: boolean;
}

interface Props {
  label: string;
  description: string;
  value: Likeness;
  onChange: (value: Likeness) => void;
}

export function LikenessOptions({ label, description, value, onChange }: Props) {
  return (
    <>
      <NumberInput
        label={label}
        description={description}
        suffix=" %"
        min={50}
        max={100}
        allowDecimal={false}
        w={220}
        value={value.from}
        onChange={from => onChange({ ...value, from })}
      />
      <Checkbox
        label="Treat different numbers as different questions"
        checked={value.sameNumbers}
        onChange={event => onChange({ ...value, sameNumbers: event.currentTarget.checked })}
      />
    </>
  );
}

/** The likeness from 0 to 1; null if none is written that rows can be compared by. */
export function shareOf({ from }: Likeness): number | null {
  return typeof from === "number" && from >= 50 ? from / 100 : null;
}
