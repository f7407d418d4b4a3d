import { notifications } from "@mantine/notifications";
import { errorText } from "@/api/http";

export function toastError(title: string, error: unknown): void {
  notifications.show({ color: "red", title, message: errorText(error), autoClose: 8000 });
}

export function toast(message: string, title?: string): void {
  notifications.show({ message, title, color: "petrol" });
}
