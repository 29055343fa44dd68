const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Reports whether lists and objects of a JSON text nest deeper than `maxDepth`, or the text has more values than `maxValues`. `JSON.parse` needs
 * seconds and hundreds of megabytes for 16 MB of `[` or `[],`; this scan reads each byte once and allocates nothing. Text that is not JSON is
 * judged up to its first error as the parser reads it.
 * @param json UTF-8
 * @param maxValues opening brackets and commas, which values inside lists and objects are never more than
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

/** After so many bytes of a string the runtime searches for its end: faster in long strings, slower in short ones. */
const nearBytes = 64

/** Index of the quote that closes a string; not less than the length when there is none. @param from behind the quote that opens it */
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
