/** Further choices of a synthesis, folded: their defaults fit most. One that is at fault opens them. */
import { Group, NumberInput, Stack, Text, Textarea } from "@mantine/core";
import { useState } from "react";
import { fieldError } from "@/api/problems";
import { bandFault, type SynthesisFields } from "./synthesis";
import type { SynthesisFieldsProps } from "./SynthesisOptions";

export function SynthesisMore({ value, onChange, error }: SynthesisFieldsProps) {
  const [open, setOpen] = useState(false);
  const change = (changes: Partial<SynthesisFields>) => onChange({ ...value, ...changes });
  const faults = {
    most: bandFault(value),
    format: fieldError(error, "/operation/answer_format"),
    tokens: fieldError(error, "/operation/max_tokens"),
  };
  const faulty = Object.values(faults).some(Boolean);
  return (
    <details
      open={open || faulty}
      onToggle={event => setOpen(event.currentTarget.open)}
      style={{ width: "100%" }}
      data-testid="synthesis-more"
    >
      <Text component="summary" size="sm">
        More options
      </Text>
      <Stack gap="sm" mt="xs">
        <Textarea
          label="Answer format"
          description="Added below each variation for the answering model. Not stored in the version."
          autosize
          minRows={1}
          maxRows={6}
          maxLength={1000}
          value={value.answerFormat}
          onChange={event => change({ answerFormat: event.currentTarget.value })}
          error={faults.format}
        />
        <Group gap="sm" align="flex-start">
          <NumberInput
            label="Correct up to"
            description="Below 100 %, always-solved variations are dropped"
            suffix=" %"
            min={1}
            max={100}
            allowDecimal={false}
            clampBehavior="strict"
            w={260}
            value={value.most}
            onChange={most => change({ most })}
            error={faults.most}
          />
          <NumberInput
            label="Duplicate from"
            description="Similarity to its row or another"
            suffix=" %"
            min={50}
            max={95}
            allowDecimal={false}
            w={220}
            value={value.near}
            onChange={near => change({ near })}
          />
          <NumberInput
            label="Longest answer"
            description="Longer answers count as incorrect"
            suffix=" tokens"
            thousandSeparator=","
            min={16}
            max={65_536}
            allowDecimal={false}
            w={200}
            value={value.maxTokens}
            onChange={maxTokens => change({ maxTokens })}
            error={faults.tokens}
          />
          <NumberInput
            label="Seed"
            description="Change it to draw again"
            min={0}
            max={2 ** 31 - 1}
            allowDecimal={false}
            clampBehavior="strict"
            w={130}
            value={value.seed}
            onChange={seed => change({ seed })}
          />
        </Group>
      </Stack>
    </details>
  );
}
