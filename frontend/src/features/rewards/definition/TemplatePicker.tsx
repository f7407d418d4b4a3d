import { Select, Text } from "@mantine/core";
import { modals } from "@mantine/modals";
import { type Template, templates } from "./templates";

interface Props {
  value: string | null;
  /** Whether a choice would overwrite what a user has typed. */
  changed: boolean;
  onChoose: (template: Template) => void;
}

/** What the definition starts with. */
export function TemplatePicker({ value, changed, onChoose }: Props) {
  const chosen = templates.find(one => one.id === value);
  const choose = (id: string | null) => {
    const next = templates.find(one => one.id === id);
    if (!next || next.id === value) return;
    if (!changed) return onChoose(next);
    modals.openConfirmModal({
      title: `Start over with “${next.title}”?`,
      children: <Text size="sm">Your changes to the definition will be lost.</Text>,
      labels: { confirm: "Start over", cancel: "Cancel" },
      onConfirm: () => onChoose(next),
    });
  };
  return (
    <>
      <Select
        label="Template"
        data={templates.map(one => ({ value: one.id, label: one.title }))}
        value={value}
        onChange={choose}
        allowDeselect={false}
        maxDropdownHeight={420}
        renderOption={({ option }) => <Choice id={option.value} />}
        data-testid="reward-template"
      />
      {chosen && (
        <Text size="xs" c="dimmed" mt={4} mb="sm">
          {chosen.about} {chosen.needs && `Needs ${chosen.needs}.`}
        </Text>
      )}
    </>
  );
}

function Choice({ id }: { id: string }) {
  const template = templates.find(one => one.id === id);
  if (!template) return null;
  return (
    <div>
      <Text size="sm" fw={550}>
        {template.title}
      </Text>
      <Text size="xs" c="dimmed">
        {template.about}
      </Text>
    </div>
  );
}
