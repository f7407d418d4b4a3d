/** The tabs of a version: one line each. The first is shown where the address names none. */
import type { ComponentType } from "react";
import type { Dataset, DatasetVersion } from "@/api/model";
import type { DatasetTabId } from "@/entities/datasets/search";
import { DifficultyTab } from "@/features/datasets/profile/DifficultyTab";
import { RowsTab } from "@/features/datasets/rows/RowsTab";
import { LabPanel } from "./LabPanel";

export interface VersionTabProps {
  dataset: Dataset;
  version: DatasetVersion;
}

interface VersionTab {
  id: DatasetTabId;
  label: string;
  component: ComponentType<VersionTabProps>;
}

export const VERSION_TABS: readonly [VersionTab, ...VersionTab[]] = [
  { id: "rows", label: "Rows", component: RowsTab },
  { id: "lab", label: "Lab", component: LabPanel },
  { id: "difficulty", label: "Difficulty", component: DifficultyTab },
];
