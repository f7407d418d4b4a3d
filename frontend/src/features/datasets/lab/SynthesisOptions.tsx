/** Choices of a synthesis: rows, purpose with its instruction, and how variations are verified. */
import { Group, NumberInput, Select, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { endpointsQuery } from "./queries";
import { type Purpose, PURPOSES, type SynthesisFields } from "./synthesis";

interface Props {
  value: SynthesisFields;
  onChange: (value: SynthesisFields) => void;
}

export function SynthesisOptions({ value, onChange }: Props) {
  const endpoints = useQuery(endpointsQuery);
  const fit = (endpoints.data?.data ?? []).filter(one => one.base_url !== null);
  const change = (changes: Partial<SynthesisFields>) => onChange({ ...value, ...changes });
  return (
    <>
      <Group gap="sm" align="flex-start">
        <TextInput
          label="With the words"
          description="Empty for rows with any"
          maxLength={500}
          w={260}
          value={value.words}
          onChange={event => change({ words: event.currentTarget.value })}
        />
        <Select
          label="Purpose"
          description="Sets the instruction below"
          data={Object.entries(PURPOSES).map(([purpose, { label }]) => ({ value: purpose, label }))}
          allowDeselect={false}
          w={300}
          value={value.purpose}
          onChange={chosen => {
            const purpose = (chosen ?? "rephrase") as Purpose;
            change({ purpose, instruction: PURPOSES[purpose].instruction });
          }}
        />
      </Group>
      <Textarea
        label="Instruction"
        description="What the model is to make of each question. It is never shown the answer."
        autosize
        minRows={3}
        maxRows={10}
        maxLength={4000}
        w="100%"
        value={value.instruction}
        onChange={event => change({ instruction: event.currentTarget.value })}
        error={value.instruction.trim() === "" && "Say what is to be made of a question."}
      />
      <Group gap="sm" align="flex-start">
        <NumberInput
          label="Variations"
          description="Of each row"
          min={1}
          max={8}
          allowDecimal={false}
          clampBehavior="strict"
          w={130}
          value={value.variations}
          onChange={variations => change({ variations })}
        />
        <Select
          label="Answered by"
          description="The model that verifies them"
          placeholder="the same model"
          clearable
          data={fit.map(one => ({ value: one.slug, label: `${one.name} (${one.model})` }))}
          w={260}
          value={value.solver}
          onChange={solver => change({ solver })}
        />
        <NumberInput
          label="Answers"
          description="To each variation"
          min={1}
          max={16}
          allowDecimal={false}
          clampBehavior="strict"
          w={140}
          value={value.attempts}
          onChange={attempts => change({ attempts })}
        />
        <NumberInput
          label="Right from"
          description="Share that is kept"
          suffix=" %"
          min={1}
          max={100}
          allowDecimal={false}
          clampBehavior="strict"
          w={150}
          value={value.least}
          onChange={least => change({ least })}
        />
        <NumberInput
          label="Seed"
          description="For another draw"
          min={0}
          max={2 ** 31 - 1}
          allowDecimal={false}
          clampBehavior="strict"
          w={130}
          value={value.seed}
          onChange={seed => change({ seed })}
        />
      </Group>
    </>
  );
}
