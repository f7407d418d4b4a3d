/** The location of the gold answer, and how it is extracted. */
import { Autocomplete, Group, NativeSelect, NumberInput, Stack, Switch, TagsInput, TextInput } from "@mantine/core";
import type { DatasetMapping } from "@/api/model";
import { RULES, type Rule } from "./draft";

type Answer = NonNullable<DatasetMapping["answer"]>;

interface Props {
  answer: Answer;
  places: string[];
  onChange: (answer: Answer) => void;
  /** The fault of a member, such as `path`. */
  fault: (member: string) => string | undefined;
}

export function AnswerRule({ answer, places, onChange, fault }: Props) {
  const rule = answer.rule ?? "as_is";
  const change = (part: Partial<Answer>) => onChange({ ...answer, ...part });
  return (
    <Stack gap="xs">
      <Group grow align="flex-start">
        <Autocomplete
          label="Answer from"
          description="A column, or a path in one"
          data={places}
          limit={50}
          value={answer.path}
          error={fault("path")}
          onChange={path => change({ path })}
        />
        <NativeSelect
          label="Extract"
          description="Each row must have it"
          data={RULES}
          value={rule}
          onChange={event => change({ rule: event.currentTarget.value as Rule })}
        />
      </Group>
      {rule === "after_marker" && (
        <TextInput
          label="Marker"
          value={answer.marker ?? "####"}
          maxLength={100}
          error={fault("marker")}
          onChange={event => change({ marker: event.currentTarget.value })}
        />
      )}
      {rule.startsWith("choice_") && (
        <TagsInput
          label="Options from"
          description="The column that lists them, or one column for each"
          data={places}
          value={answer.choices ?? []}
          error={fault("choices")}
          onChange={choices => change({ choices })}
        />
      )}
      {rule === "choice_index" && (
        <NumberInput
          label="Number of the first option"
          min={0}
          max={1}
          allowDecimal={false}
          value={answer.first ?? 0}
          onChange={value => change({ first: value === 1 ? 1 : 0 })}
        />
      )}
      <Switch
        label="Rows may lack it"
        checked={answer.optional ?? false}
        onChange={event => change({ optional: event.currentTarget.checked })}
      />
    </Stack>
  );
}
