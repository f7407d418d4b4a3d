/** The tab Lab: operations of the lab, and what profiles do as one of its steps. */
import { GoldilocksCard } from "@/features/datasets/profile/GoldilocksCard";
import { LabTab } from "@/features/datasets/lab/LabTab";
import type { VersionTabProps } from "./tabs";

export function LabPanel(props: VersionTabProps) {
  return (
    <LabTab {...props}>
      <GoldilocksCard {...props} />
    </LabTab>
  );
}
