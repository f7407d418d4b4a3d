/** Choices of a synthesis: the rows, and what is to be made of them. */
import { Checkbox, Group, NumberInput, Select, Textarea, TextInput } from "@mantine/core";
import { fieldError } from "@/api/problems";
import { type Purpose, PURPOSES, type SynthesisFields } from "./synthesis";

export interface SynthesisFieldsProps {
  value: SynthesisFields;
  onChange: (value: SynthesisFields) => void;
  /** Why the last request was rejected. */
  error: unknown;
}

export function SynthesisOptions({ value, onChange, error }: SynthesisFieldsProps) {
  const change = (changes: Partial<SynthesisFields>) => onChange({ ...value, ...changes });
  return (
    <>
      <Group gap="sm" align="flex-start">
        <TextInput
          label="Rows with the words"
          description="Empty for all rows"
          maxLength={500}
          w={260}
          value={value.words}
          onChange={event => change({ words: event.currentTarget.value })}
          error={fieldError(error, "/operation/query")}
        />
        <Select
          label="Purpose"
          description="Sets the instruction and the checkbox below"
          data={Object.entries(PURPOSES).map(([purpose, { label }]) => ({ value: purpose, label }))}
          allowDeselect={false}
          w={300}
          value={value.purpose}
          onChange={chosen => {
            const purpose = (chosen ?? "rephrase") as Purpose;
            const { instruction, sameNumbers } = PURPOSES[purpose];
            change({ purpose, instruction, sameNumbers });
          }}
        />
        <NumberInput
          label="Variations"
          description="Per row"
          min={1}
          max={8}
          allowDecimal={false}
          clampBehavior="strict"
          w={130}
          value={value.variations}
          onChange={variations => change({ variations })}
        />
      </Group>
      <Textarea
        label="Instruction"
        description={
          value.purpose === "whole"
            ? "How the model should change each question. It sees the answer and writes the new one."
            : "How the model should change each question. It never sees the answer."
        }
        autosize
        minRows={3}
        maxRows={10}
        maxLength={4000}
        w="100%"
        value={value.instruction}
        onChange={event => change({ instruction: event.currentTarget.value })}
        error={value.instruction.trim() === "" ? "Enter an instruction." : fieldError(error, "/operation/instruction")}
      />
      <Checkbox
        label="Keep the numbers"
        description="Variations whose numbers differ from the row's are rejected before they are answered."
        checked={value.sameNumbers}
        onChange={event => change({ sameNumbers: event.currentTarget.checked })}
      />
    </>
  );
}
