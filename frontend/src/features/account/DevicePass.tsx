import { Alert, Button, Text } from "@mantine/core";
import { IconDeviceLaptop } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import * as api from "@/api/client";
import { formatTime } from "@/lib/format";
import { CopyText } from "@/ui/CopyText";
import { toastError } from "@/ui/toast";

/** A link that lets a new browser skip the wait that failed sign-ins cause. */
export function DevicePass() {
  const make = useMutation({
    mutationFn: () => api.makeDevicePass(),
    onError: error => toastError("The link was not created", error),
  });
  if (!make.data) {
    return (
      <Button size="xs" variant="default" mt="xs" onClick={() => make.mutate()} loading={make.isPending}>
        Sign in on another device
      </Button>
    );
  }
  const { device_pass, expires_at } = make.data;
  return (
    <Alert
      mt="sm"
      icon={<IconDeviceLaptop size={18} />}
      title="Open this on the other device"
      withCloseButton
      onClose={make.reset}
      closeButtonLabel="Hide link"
    >
      <CopyText value={`${location.origin}/sign-in?pass=${encodeURIComponent(device_pass)}`} label="Copy link" />
      <Text size="xs" mt={6}>
        Until {formatTime(expires_at)} it lets you sign in there without delay, even if someone is guessing your
        password. You still need the password.
      </Text>
    </Alert>
  );
}
