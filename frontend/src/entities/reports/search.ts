/** View state of a report's page that lives in its address. */
import { number, oneOf } from "@/lib/search";

export interface ReportSearch {
  /** Whether it is being written. */
  edit?: "on";
  /** An earlier revision that is shown. */
  revision?: number;
}

export function reportSearch(search: Record<string, unknown>): ReportSearch {
  return { edit: oneOf(search.edit, ["on"]), revision: number(search.revision) };
}
