/** The mark: a serpentine, the figure a rider steers, with its next letter marked. */
export function Logo({ size = 26 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#17627a" />
      <path d="M9 24.5V21c0-5.5 14-4.5 14-10V7.5" fill="none" stroke="#fff" strokeWidth="3" strokeLinecap="round" />
      <circle cx="9" cy="24.5" r="2.6" fill="#f3c969" />
    </svg>
  );
}
