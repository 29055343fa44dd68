import { concatBytes } from '#lib/bytes'
import { rlpHead } from '#lib/rlp'
import { branchWith, decodeNode, type NodeRef } from './node.ts'

/*
 * Children that differ between two branches: bit n of the first u16 is set for child n, then each such child of the older branch as in its RLP:
 * 0x80, a hash after 0xa0, or an embedded node.
 */
const children = 16
const noChild = 0x80
const hashMark = 0xa0

/** Returns the end of a child's item in a branch. */
function endOf(rlp: Uint8Array, at: number): number {
  const first = rlp[at] ?? noChild
  return at + 1 + (first < 0xc0 ? first - 0x80 : first - 0xc0)
}

function isSame(a: Uint8Array, fromA: number, toA: number, b: Uint8Array, fromB: number, toB: number): boolean {
  if (toA - fromA !== toB - fromB) return false
  for (let i = 0; i < toA - fromA; i++) if (a[fromA + i] !== b[fromB + i]) return false
  return true
}

/** Returns how to make the older of two nodes out of the newer; undefined unless both are branches. @param before, after valid node RLP */
export function branchDelta(before: Uint8Array, after: Uint8Array): Uint8Array | undefined {
  const parts: Uint8Array[] = []
  let bits = 0
  let at = rlpHead(before, 0).from
  let atAfter = rlpHead(after, 0).from
  for (let nibble = 0; nibble < children; nibble++) {
    // an extension or a leaf ends here, or has an item that no branch has
    if (at >= before.length || atAfter >= after.length) return undefined
    const [end, endAfter] = [endOf(before, at), endOf(after, atAfter)]
    if (!isSame(before, at, end, after, atAfter, endAfter)) {
      bits |= 1 << nibble
      parts.push(before.subarray(at, end))
    }
    at = end
    atAfter = endAfter
  }
  const isBranch = at === before.length - 1 && atAfter === after.length - 1
  return isBranch ? concatBytes(Uint8Array.of(bits >> 8, bits & 0xff), ...parts) : undefined
}

/** Returns the older branch. @returns undefined when `after` is not a branch */
export function withDelta(delta: Uint8Array, after: Uint8Array): Uint8Array | undefined {
  const node = decodeNode(after)
  if (node.kind !== 'branch') return undefined
  const bits = ((delta[0] ?? 0) << 8) | (delta[1] ?? 0)
  const replaced: { nibble: number; child: NodeRef | undefined }[] = []
  let at = 2
  for (let nibble = 0; nibble < children; nibble++) {
    if ((bits & (1 << nibble)) === 0) continue
    const end = endOf(delta, at)
    replaced.push({ nibble, child: childAt(delta, at, end) })
    at = end
  }
  return branchWith(node, replaced)
}

function childAt(delta: Uint8Array, at: number, end: number): NodeRef | undefined {
  if (delta[at] === noChild) return undefined
  return delta.subarray(delta[at] === hashMark ? at + 1 : at, end)
}
