const [quote, backslash] = [0x22, 0x5c]
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Reports whether lists and objects of a JSON text nest deeper than `maxDepth`. `JSON.parse` needs seconds and much memory for megabytes of `[`;
 * this scan reads each byte once and allocates nothing. Up to its first error a text that is no JSON is judged as the parser would read it.
 * @param json UTF-8
 */
export function exceedsDepth(json: Uint8Array, maxDepth: number): boolean {
  let depth = 0
  let isInString = false
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (isInString) {
      if (byte === backslash) at++
      else if (byte === quote) isInString = false
    } else if (byte === quote) isInString = true
    else if (byte === openList || byte === openObject) {
      if (++depth > maxDepth) return true
    } else if (byte === closeList || byte === closeObject) depth--
  }
  return false
}
