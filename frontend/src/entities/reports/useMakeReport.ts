/** Creates a report from the current view, and opens it for editing. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import * as api from "@/api/client";
import { useSubmit } from "@/lib/useSubmit";
import { toastError } from "@/ui/toast";
import type { ReportText } from "./blocks";

/** `onMade`: called before the report is opened. */
export function useMakeReport(onMade?: () => void) {
  const client = useQueryClient();
  const navigate = useNavigate();
  return useSubmit({
    mutationFn: ({ title, blocks }: ReportText) => api.createReport({ title, content: { blocks } }),
    onSuccess: async report => {
      onMade?.();
      client.setQueryData(["report", report.id], report);
      await client.invalidateQueries({ queryKey: ["reports"] });
      await navigate({ to: "/reports/$reportId", params: { reportId: report.id }, search: { edit: "on" } });
    },
    onError: error => toastError("The report was not created", error),
  });
}
