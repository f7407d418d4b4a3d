/** The parts of a spec as sections that fold; a folded one says what is chosen in it. */
import { Collapse, Group, Paper, Text, Title, UnstyledButton } from "@mantine/core";
import { IconChevronRight } from "@tabler/icons-react";
import type { Json, JsonSchema, Spec } from "@/api/model";
import { objectiveOf } from "@/entities/runs/objective";
import { useForm } from "@/features/schema-form/context";
import { Field } from "@/features/schema-form/Field";
import { Explanation } from "@/features/schema-form/FieldLabel";
import { ObjectFields } from "@/features/schema-form/ObjectFields";
import { errorsAt, same } from "@/features/schema-form/pointer";
import { isObject, kindOf, resolve } from "@/features/schema-form/schema";
import { UnionField } from "@/features/schema-form/UnionField";
import { formatValue, humanize } from "@/lib/format";
import classes from "./create.module.css";

const TITLES: Record<string, string> = { kl: "KL penalty" };
/** Chosen above the form; the section holds the fields of the chosen one. */
const OBJECTIVE = "objective";
const title = (name: string) => TITLES[name] ?? humanize(name);

interface Props {
  schema: JsonSchema;
  value: Spec;
  open: Set<string>;
  onToggle: (section: string, open: boolean) => void;
  onChange: (value: Spec) => void;
}

export function SpecSections({ schema, value, open, onToggle, onChange }: Props) {
  const { errors } = useForm();
  return sectionsOf(schema, value).map(name => {
    const faulty = errorsAt(errors, [name], true).length > 0;
    const isOpen = open.has(name) || faulty;
    const property = resolve(schema.properties?.[name] ?? {}, schema);
    return (
      <Paper
        key={name}
        id={`section-${name}`}
        className={classes.section}
        mb="xs"
        component="section"
        aria-label={title(name)}
      >
        <UnstyledButton
          w="100%"
          px="sm"
          py={10}
          onClick={() => onToggle(name, !isOpen)}
          aria-expanded={isOpen}
          style={{ borderRadius: 6 }}
        >
          <Group gap={8} wrap="nowrap">
            <IconChevronRight
              size={14}
              style={{ transform: isOpen ? "rotate(90deg)" : undefined, flex: "none" }}
              aria-hidden="true"
            />
            <Title order={2} fz="md">
              {title(name)}
            </Title>
            {!isOpen && (
              <Text size="xs" c="dimmed" truncate>
                {summary(value[name])}
              </Text>
            )}
          </Group>
        </UnstyledButton>
        <Collapse expanded={isOpen}>
          <div style={{ padding: "0 12px 14px" }}>
            <Body
              schema={property}
              name={name}
              value={value[name]}
              onChange={next => onChange({ ...value, [name]: next })}
            />
          </div>
        </Collapse>
      </Paper>
    );
  });
}

/** All sections; the objective is one only if it has fields. */
function sectionsOf(schema: JsonSchema, value: Spec): string[] {
  const names = Object.keys(schema.properties ?? {});
  return objectiveOf(value) === "rl" ? names.filter(name => name !== OBJECTIVE) : names;
}

function Body(props: { schema: JsonSchema; name: string; value: Json | undefined; onChange: (value: Json) => void }) {
  const { schema, name, value, onChange } = props;
  const field = { schema, path: [name], value, onChange };
  switch (kindOf(schema)) {
    case "object":
      return (
        <>
          <Note schema={schema} />
          <ObjectFields {...field} />
        </>
      );
    case "union":
      return <UnionField {...field} bare fixed={name === OBJECTIVE} />;
    default:
      return <Field {...field} />;
  }
}

function Note({ schema }: { schema: JsonSchema }) {
  if (!schema.description) return null;
  return (
    <Group gap={4} mb="xs">
      <Text size="xs" c="dimmed">
        {schema.description.split("\n")[0]}
      </Text>
      {schema.formula && <Explanation schema={schema} />}
    </Group>
  );
}

/** "grpo · std sample · epsilon 1e−6" */
function summary(value: Json | undefined): string {
  if (Array.isArray(value)) {
    return value.length === 0
      ? "none"
      : value.map(one => (isObject(one) ? String(one.name ?? one.type) : formatValue(one))).join(", ");
  }
  if (!isObject(value)) return formatValue(value);
  return Object.entries(value)
    .filter(([, part]) => part !== null && typeof part !== "object")
    .slice(0, 4)
    .map(([name, part]) => (name === "type" ? formatValue(part) : `${name.replaceAll("_", " ")} ${formatValue(part)}`))
    .join(" · ");
}

interface NavProps {
  schema: JsonSchema;
  value: Spec;
  base: Spec;
  errors: { pointer: string; detail: string }[];
  onReveal: (section: string) => void;
}

export function SectionNav({ schema, value, base, errors, onReveal }: NavProps) {
  return (
    <nav className={classes.sectionNav} aria-label="Sections">
      {sectionsOf(schema, value).map(name => {
        const faults = errorsAt(errors, [name], true).length;
        const changed = !same(base[name], value[name]);
        return (
          <UnstyledButton key={name} className={classes.sectionLink} onClick={() => onReveal(name)}>
            {title(name)}
            {changed && !faults && <Dot color="var(--c-accent)" label="changed" />}
            {faults > 0 && <Dot color="var(--c-bad)" label={`${faults} errors`} />}
          </UnstyledButton>
        );
      })}
    </nav>
  );
}

function Dot({ color, label }: { color: string; label: string }) {
  return (
    <>
      <span aria-hidden="true" style={{ width: 6, height: 6, borderRadius: 6, background: color }} />
      <span className="sr-only">{label}</span>
    </>
  );
}
