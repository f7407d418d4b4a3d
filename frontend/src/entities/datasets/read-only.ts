/** Whether the shown dataset can be changed. Datasets of other teams are read-only. */
import { createContext, useContext } from "react";
import { useCan } from "@/features/session/session";

/** True below the page of a dataset that another team shares. */
export const ReadOnly = createContext(false);

/** Whether the signed-in user may change the shown dataset. */
export function useMayEdit(): boolean {
  const editor = useCan("editor");
  return !useContext(ReadOnly) && editor;
}
