/** Saves a report as a file of Markdown, with the figures that its charts and tables show now. */
import { useQueryClient } from "@tanstack/react-query";
import type { Report } from "@/api/model";
import { useSubmit } from "@/lib/useSubmit";
import { toastError } from "@/ui/toast";

export function useExport(report: Report) {
  const client = useQueryClient();
  return useSubmit({
    mutationFn: async () => (await import("./exported")).exported(client, report, window.location.origin),
    onSuccess: text => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type: "text/markdown" }));
      link.download = `${report.title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "report"}.md`;
      link.click();
      URL.revokeObjectURL(link.href);
    },
    onError: error => toastError("Nothing was exported", error),
  });
}
