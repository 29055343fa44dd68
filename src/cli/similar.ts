/** Number of letters to add, drop or change, or neighbours to swap, that turns one text into the other. */
function distance(one: string, other: string): number {
  const rows = [Array.from({ length: other.length + 1 }, (_, at) => at)]
  const cell = (row: number, column: number): number => rows[row]?.[column] ?? Number.POSITIVE_INFINITY
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    rows.push(row)
    for (let j = 1; j <= other.length; j++) {
      const isSwapped = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      const changed = cell(i - 1, j - 1) + (one[i - 1] === other[j - 1] ? 0 : 1)
      row.push(Math.min(cell(i - 1, j) + 1, cell(i, j - 1) + 1, changed, isSwapped ? cell(i - 2, j - 2) + 1 : changed))
    }
  }
  return cell(one.length, other.length)
}

/** Returns the most similar known name; undefined: none is within three edits. */
export function mostSimilar(name: string, known: Iterable<string>): string | undefined {
  const near = [...known].map((one) => ({ one, away: distance(name, one) })).filter(({ away }) => away <= 3)
  return near.sort((a, b) => a.away - b.away)[0]?.one
}
