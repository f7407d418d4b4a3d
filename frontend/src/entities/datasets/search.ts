/** View state of a dataset's page that lives in its address. */
import { number, oneOf, text } from "@/lib/search";

export const DATASET_TAB_IDS = ["rows", "lab", "difficulty"] as const;
export type DatasetTabId = (typeof DATASET_TAB_IDS)[number];

export interface DatasetSearch {
  version?: number;
  /** Version to compare with, in place of the tabs. */
  against?: number;
  after?: number;
  tab?: DatasetTabId;
  /** Filters of the rows: words, answer, lengths, `column=value` and conditions on notes, the last two with commas. */
  q?: string;
  answer?: string;
  min?: number;
  max?: number;
  tags?: string;
  script?: string;
  notes?: string;
  /** Index of the row that is open. */
  row?: number;
}

export function datasetSearch(search: Record<string, unknown>): DatasetSearch {
  return {
    version: number(search.version),
    against: number(search.against),
    after: number(search.after),
    tab: oneOf(search.tab, DATASET_TAB_IDS),
    q: text(search.q),
    answer: text(search.answer),
    min: whole(search.min),
    max: whole(search.max),
    tags: text(search.tags),
    script: text(search.script),
    notes: text(search.notes),
    row: whole(search.row),
  };
}

function whole(value: unknown): number | undefined {
  const found = number(value);
  return found !== undefined && Number.isSafeInteger(found) && found >= 0 && found < 2 ** 31 ? found : undefined;
}
