const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Reports whether lists and objects of a JSON text nest deeper than `maxDepth`, or the text has more values than `maxValues`. `JSON.parse` needs
 * seconds and hundreds of megabytes for 16 MB of `[` or `[],`; this scan reads each byte once and allocates nothing. For text that is
 * not JSON, the result covers the part that the parser reads before its first error.
 * @param json UTF-8
 * @param maxValues limit of opening brackets plus commas, which is at least the number of values inside lists and objects
 */
export function exceedsDepth(json: Uint8Array, maxDepth: number, maxValues = Number.POSITIVE_INFINITY): boolean {
  let depth = 0
  let values = 0
  for (let at = 0; at < json.length && depth <= maxDepth && values <= maxValues; at++) {
    switch (json[at]) {
      case quote:
        at = endOfString(json, at + 1)
        break
      case openList:
      case openObject:
        depth++
        values++
        break
      case comma:
        values++
        break
      case closeList:
      case closeObject:
        depth--
        break
    }
  }
  return depth > maxDepth || values > maxValues
}

/** Bytes of a string that are scanned in a loop. After that the runtime's search is used, which is faster only for long strings. */
const nearBytes = 64

/** Returns the index of the closing quote of a string, or at least the length when there is none. @param from index after the opening quote */
function endOfString(json: Uint8Array, from: number): number {
  let at = from
  for (;;) {
    for (const far = at + nearBytes; at < far; at += json[at] === backslash ? 2 : 1) if (at >= json.length || json[at] === quote) return at
    const end = json.indexOf(quote, at)
    if (end < 0) return json.length
    let escapes = 0
    while (end - escapes > at && json[end - escapes - 1] === backslash) escapes++
    if (escapes % 2 === 0) return end
    at = end + 1
  }
}
