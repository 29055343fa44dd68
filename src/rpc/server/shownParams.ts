const maxChars = 300
const maxDepth = 3
const maxItems = 4
/** Hex of a hash has 66 characters. */
const maxHexChars = 66

/** Returns a text that may be shown: hex, cut after a hash's length, and words such as `latest`. Of any other text only its length. */
function shownText(text: string): string {
  if (/^0x[0-9a-f]{0,64}$/i.test(text)) return text
  if (text.length > maxHexChars && /^0x[0-9a-f]{64}$/i.test(text.slice(0, maxHexChars))) return `${text.slice(0, 18)}…(${text.length})`
  return /^[a-z]{1,12}$/i.test(text) ? text : `text(${text.length})`
}

function shownList(items: readonly string[], count: number): string {
  return (count > items.length ? [...items, `… ${count} in all`] : items).join(',')
}

function shown(value: unknown, depth: number): string {
  if (typeof value === 'string') return shownText(value)
  if (typeof value !== 'object' || value === null) return String(value).slice(0, maxHexChars)
  if (depth === maxDepth) return '…'
  if (Array.isArray(value)) {
    const items = value.slice(0, maxItems).map((item) => shown(item, depth + 1))
    return `[${shownList(items, value.length)}]`
  }
  const keys = Object.keys(value)
  const members = keys.slice(0, maxItems).map((key) => `${shownText(key)}:${shown((value as Record<string, unknown>)[key], depth + 1)}`)
  return `{${shownList(members, keys.length)}}`
}

/** Returns a short form of a call's parameters for the log, without free text, in which a client may have sent a secret. */
export function shownParams(params: readonly unknown[]): string {
  const text = shown(params, 0)
  return text.length > maxChars ? `${text.slice(0, maxChars)}…` : text
}
