/** A report: read, written, or looked at as it was. All of which is in the address. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import type { Report } from "@/api/model";
import { reportQuery } from "@/entities/reports/queries";
import { useCan } from "@/features/session/session";
import { isNotThere } from "@/ui/ErrorState";
import { Loaded } from "@/ui/Loaded";
import { DeletedReport } from "./DeletedReport";
import { EarlierRevision } from "./EarlierRevision";
import { Editor } from "./Editor";
import { Reading } from "./Reading";
import { draftedText, dropDraft } from "./useReportDraft";

export function ReportPage() {
  const { reportId } = useParams({ from: "/app/reports/$reportId" });
  const report = useQuery(reportQuery(reportId));
  const [dropped, setDropped] = useState<string | null>(null);
  const drafted = isNotThere(report.error) && dropped !== reportId ? draftedText(reportId) : null;
  const drop = () => {
    dropDraft(reportId);
    setDropped(reportId);
  };
  if (drafted) return <DeletedReport text={drafted} onDrop={drop} />;
  return (
    <Loaded query={report} page>
      {found => <Found key={found.id} report={found} />}
    </Loaded>
  );
}

function Found({ report }: { report: Report }) {
  const { edit, revision } = useSearch({ from: "/app/reports/$reportId" });
  const navigate = useNavigate({ from: "/reports/$reportId" });
  const editor = useCan("editor");
  const read = () => void navigate({ search: {} });
  if (revision !== undefined && revision !== report.revision)
    return <EarlierRevision {...{ report, revision, editor }} onClose={read} />;
  if (edit && editor) return <Editor report={report} onDone={read} />;
  return <Reading {...{ report, editor }} onEdit={() => void navigate({ search: { edit: "on" } })} />;
}
