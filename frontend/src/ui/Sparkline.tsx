/** A small line without axes. */
export function Sparkline({ values, width = 88, height = 22 }: { values: number[]; width?: number; height?: number }) {
  if (values.length < 2) return <span style={{ display: "inline-block", width, height }} aria-hidden="true" />;
  const low = Math.min(...values);
  const span = Math.max(...values) - low || 1;
  const points = values.map((value, index) => {
    const x = (index / (values.length - 1)) * (width - 4) + 2;
    return `${x.toFixed(1)},${(height - 3 - ((value - low) / span) * (height - 6)).toFixed(1)}`;
  });
  const [lastX, lastY] = (points.at(-1) as string).split(",");
  return (
    <svg width={width} height={height} aria-hidden="true" style={{ display: "block" }}>
      <polyline points={points.join(" ")} fill="none" stroke="var(--c-s0)" strokeWidth="1.5" strokeLinejoin="round" />
      <circle cx={lastX} cy={lastY} r="2" fill="var(--c-s0)" />
    </svg>
  );
}
