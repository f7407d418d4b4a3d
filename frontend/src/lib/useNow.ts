import { useEffect, useState } from "react";

/** The present time, renewed every `interval` milliseconds; for ages such as "stale 42 s". */
export function useNow(interval = 1000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), interval);
    return () => window.clearInterval(timer);
  }, [interval]);
  return now;
}
