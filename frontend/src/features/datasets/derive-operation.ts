/** The request of the form for a new version. */
import type { DeriveRequest } from "@/api/model";

export type DeriveKind = "filter" | "split" | "integers";

export interface DeriveFields {
  kind: DeriveKind;
  text: string;
  tags: string;
  minLength: number | null;
  maxLength: number | null;
  /** Percent of the rows that go into the part "test". */
  testPercent: number;
  /** Whether rows whose answer is a fraction m/n ask for m + n; else they are left out. */
  askForSum: boolean;
  /** What is written below their prompts. */
  sentence: string;
  /** Name of a new dataset for the found rows; empty for the next version of the same one. */
  name: string;
}

export const EMPTY: DeriveFields = {
  kind: "filter",
  text: "",
  tags: "",
  minLength: null,
  maxLength: null,
  testPercent: 10,
  askForSum: true,
  sentence:
    "The answer is a fraction m/n in lowest terms, where n is positive. Give m + n, which is a whole number, instead.",
  name: "",
};

/** The body of the request. */
export function deriveBody(fields: DeriveFields, dryRun: boolean): Omit<DeriveRequest, "latest"> {
  const name = fields.name.trim();
  return { operation: operationOf(fields), into: name ? { name } : null, dry_run: dryRun };
}

/** Whether the form asks for something: a filter wants a condition. */
export function isComplete(fields: DeriveFields): boolean {
  if (fields.kind === "split") return fields.testPercent > 0 && fields.testPercent < 100;
  if (fields.kind === "integers") return !fields.askForSum || fields.sentence.trim() !== "";
  return (
    Boolean(fields.text.trim() || tagsOf(fields.tags).length) || fields.minLength !== null || fields.maxLength !== null
  );
}

function operationOf(fields: DeriveFields): DeriveRequest["operation"] {
  if (fields.kind === "split") {
    const test = fields.testPercent / 100;
    return {
      name: "split",
      shares: [
        { name: "train", share: 1 - test },
        { name: "test", share: test },
      ],
    };
  }
  if (fields.kind === "integers")
    return fields.askForSum
      ? { name: "integers", fractions: "sum", sentence: fields.sentence.trim() }
      : { name: "integers", fractions: "leave_out" };
  const tags = tagsOf(fields.tags);
  return {
    name: "filter",
    query: {
      ...(fields.text.trim() ? { text: fields.text.trim() } : {}),
      ...(tags.length > 0 ? { tags } : {}),
      ...(fields.minLength === null ? {} : { min_length: fields.minLength }),
      ...(fields.maxLength === null ? {} : { max_length: fields.maxLength }),
    },
  };
}

function tagsOf(text: string): string[] {
  return text
    .split(",")
    .map(tag => tag.trim())
    .filter(Boolean);
}
