/** A block of a report as readers see it. */
import type { ReportBlock } from "@/api/model";
import { Markdown } from "@/ui/Markdown";
import { Nothing } from "@/ui/Nothing";
import { ChartBlockView } from "./ChartBlockView";
import { RunTable } from "./RunTable";
import { SampleCard } from "./SampleCard";

export function BlockView({ block }: { block: ReportBlock }) {
  switch (block.type) {
    case "text":
      return block.markdown.trim() ? <Markdown>{block.markdown}</Markdown> : <Nothing>No text yet.</Nothing>;
    case "chart":
      return <ChartBlockView block={block} />;
    case "sample":
      return <SampleCard block={block} />;
    default:
      return <RunTable block={block} />;
  }
}
