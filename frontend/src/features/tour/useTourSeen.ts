/** Whether this browser has been through the tour, or has put it away. */
import { useLocalStorage } from "@mantine/hooks";

export function useTourSeen() {
  const [seen, setSeen] = useLocalStorage({
    key: "dressage.tour-seen",
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  return { seen, setSeen };
}
