/** What a block is, as its writer changes it, with what comes of it. */
import type { ReportBlock } from "@/api/model";
import { BlockView } from "./BlockView";
import { ChartSettings } from "./ChartSettings";
import { Freeze } from "./Freeze";
import { RunsPicker } from "./RunsPicker";
import { SampleSettings } from "./SampleSettings";
import { TextSettings } from "./TextSettings";
import classes from "./reports.module.css";

interface Props {
  block: ReportBlock;
  isNew: boolean;
  onChange: (next: ReportBlock) => void;
}

export function BlockSettings({ block, isNew, onChange }: Props) {
  if (block.type === "text") return <TextSettings {...{ block, isNew, onChange }} />;
  return (
    <>
      <BlockView block={block} />
      <div className={classes.settings}>
        {block.type === "chart" && <ChartSettings {...{ block, onChange }} />}
        {block.type === "sample" && <SampleSettings {...{ block, onChange }} />}
        {(block.type === "evaluations" || block.type === "spec") && (
          <div className={classes.wide}>
            <RunsPicker runs={block.runs} onChange={runs => onChange({ ...block, runs })} />
          </div>
        )}
        {block.type === "evaluations" && (
          <Freeze asOf={block.as_of} onChange={as_of => onChange({ ...block, as_of })} />
        )}
      </div>
    </>
  );
}
