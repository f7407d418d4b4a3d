/** Saves a draft over the revision that its writer has seen. */
import { useQueryClient } from "@tanstack/react-query";
import * as api from "@/api/client";
import { Problem } from "@/api/http";
import type { Report } from "@/api/model";
import { textOf } from "@/entities/reports/blocks";
import { sameText } from "@/entities/reports/same";
import { useSubmit } from "@/lib/useSubmit";
import { toast, toastError } from "@/ui/toast";
import type { ReportDraft } from "./useReportDraft";

export function useSaveReport(report: Report, draft: ReportDraft) {
  const client = useQueryClient();
  return useSubmit({
    mutationFn: async () => {
      const sent = draft.text;
      const { title, blocks } = sent;
      try {
        return {
          sent,
          saved: await api.updateReport(
            report.id,
            { title, content: { blocks } },
            { "If-Match": `"${draft.revision}"` },
          ),
        };
      } catch (error) {
        if (!(error instanceof Problem && error.status === 412)) throw error;
        // An answer that never came: what is there is what was sent.
        const now = await api.getReport(report.id);
        client.setQueryData(["report", report.id], now);
        if (sameText(textOf(now), sent)) return { sent, saved: now };
        throw error;
      }
    },
    onSuccess: async ({ sent, saved }) => {
      client.setQueryData(["report", report.id], saved);
      draft.rebase(saved.revision, sent);
      toast(`Saved as revision ${saved.revision}.`);
      await client.invalidateQueries({ queryKey: ["report", report.id, "revisions"] });
      await client.invalidateQueries({ queryKey: ["reports"] });
    },
    onError: async error => {
      // What others have saved is told above the blocks.
      if (error instanceof Problem && error.status === 412) return;
      toastError("The report was not saved", error);
      // Where it was deleted, the page says what becomes of the draft.
      await client.invalidateQueries({ queryKey: ["report", report.id], exact: true });
    },
  });
}
