import { Button, Group, PasswordInput, Stack } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import * as api from "@/api/client";
import { fieldError, restError } from "@/api/problems";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";
import { toast } from "@/ui/toast";

/** Changes one's own password. All other sessions end with it. */
export function PasswordForm() {
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const client = useQueryClient();
  const change = useSubmit({
    mutationFn: () => api.changePassword({ current, new: next }),
    onSuccess: async () => {
      setCurrent("");
      setNext("");
      toast("Your password has been changed. All other sessions have ended.");
      await client.invalidateQueries();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {restError(change.error, ["/current", "/new"]) !== null && <ErrorState error={change.error} />}
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          value={current}
          onChange={event => setCurrent(event.currentTarget.value)}
          error={fieldError(change.error, "/current")}
          data-autofocus
          required
        />
        <PasswordInput
          label="New password"
          description="At least twelve characters. Not your name, your address or a team name."
          autoComplete="new-password"
          value={next}
          onChange={event => setNext(event.currentTarget.value)}
          error={fieldError(change.error, "/new")}
          minLength={12}
          required
        />
        <Group justify="flex-end">
          <Button type="submit" loading={change.isPending}>
            Change password
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
