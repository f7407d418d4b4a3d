/** Whether the tour was finished or dismissed in this browser. */
import { useLocalStorage } from "@mantine/hooks";

export function useTourSeen() {
  const [seen, setSeen] = useLocalStorage({
    key: "dressage.tour-seen",
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  return { seen, setSeen };
}
