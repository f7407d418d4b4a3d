import type { Report } from "@/api/model";
import { formatAgo } from "@/lib/format";
import { formatInstant } from "./instant";

/** Who wrote a report and who changed it last. */
export function ByLine({ report }: { report: Report }) {
  const { created_by: author, updated_by: last, revision } = report;
  if (revision === 1)
    return (
      <>
        By {author}, {formatInstant(report.created_at)}
      </>
    );
  return (
    <>
      By {author}. Edited {formatAgo(report.updated_at)}
      {last !== author && ` by ${last}`}, revision {revision}
    </>
  );
}
