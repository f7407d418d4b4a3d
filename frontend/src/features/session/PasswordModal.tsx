import { Button, Group, Modal, PasswordInput, Stack } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { session } from "@/api/client";
import { fieldError, restError } from "@/api/problems";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";
import { toast } from "@/ui/toast";
import { sessionQuery } from "./session";

export function PasswordModal({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const client = useQueryClient();
  const change = useSubmit({
    mutationFn: () => session.changePassword({ current, new: next }),
    onSuccess: async () => {
      setCurrent("");
      setNext("");
      onClose();
      toast("Your password has been changed.");
      await client.invalidateQueries(sessionQuery);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <Modal opened={opened} onClose={onClose} title="Change password">
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
            description="At least ten characters."
            autoComplete="new-password"
            value={next}
            onChange={event => setNext(event.currentTarget.value)}
            error={fieldError(change.error, "/new")}
            minLength={10}
            required
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={change.isPending}>
              Change password
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
