/** Adds or takes away one member, up to a largest number. */
export function toggled<T>(list: T[], member: T, max: number): T[] {
  if (list.includes(member)) return list.filter(one => one !== member);
  return list.length < max ? [...list, member] : list;
}
