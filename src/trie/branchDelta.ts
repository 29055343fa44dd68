import { rlpHead } from '#lib/rlp'
import { branchWith, decodeNode, encodeBranch, type NodeRef } from './node.ts'

/*
 * Children that differ between two branches: bit n of the first u16 is set for child n, then each such child of the older branch as in its RLP:
 * 0x80, a hash after 0xa0, or an embedded node.
 */
const children = 16
const noChild = 0x80
const hashMark = 0xa0
/** Size of a branch whose children are all hashes: no branch without a value is longer. */
const longest = 3 + 33 * children + 1

/** Longest item of another node that `endOf` may take for a child. */
const beyond = 64

/** Copies of two nodes, for comparisons of four bytes at once, and room for a delta. */
const afterAt = longest
const nodes = new Uint8Array(afterAt + longest + beyond)
const words = new DataView(nodes.buffer)
const room = new Uint8Array(2 + 33 * children)

/** Returns the end of a child's item in a branch. */
function endOf(rlp: Uint8Array, at: number): number {
  const first = rlp[at] ?? noChild
  return at + 1 + (first < 0xc0 ? first - 0x80 : first - 0xc0)
}

/** Compares two items in `nodes`. */
function isSame(a: number, b: number, length: number): boolean {
  let i = 0
  for (; i + 4 <= length; i += 4) if (words.getInt32(a + i, true) !== words.getInt32(b + i, true)) return false
  for (; i < length; i++) if (nodes[a + i] !== nodes[b + i]) return false
  return true
}

/** Returns the children of the older branch that differ from the newer one; undefined unless both nodes are branches. @param before, after valid node RLP */
export function branchDelta(before: Uint8Array, after: Uint8Array): Uint8Array | undefined {
  if (before.length > longest || after.length > longest) return undefined
  nodes.set(before)
  nodes.set(after, afterAt)
  let bits = 0
  let size = 2
  let at = rlpHead(before, 0).from
  let atAfter = rlpHead(after, 0).from
  for (let nibble = 0; nibble < children; nibble++) {
    // an extension or a leaf ends here, or has an item that no branch has
    if (at >= before.length || atAfter >= after.length) return undefined
    const [end, endAfter] = [endOf(before, at), endOf(after, atAfter)]
    if (end - at !== endAfter - atAfter || !isSame(at, afterAt + atAfter, end - at)) {
      bits |= 1 << nibble
      for (let from = at; from < end; from++) room[size++] = nodes[from] as number
    }
    at = end
    atAfter = endAfter
  }
  const isBranch = at === before.length - 1 && atAfter === after.length - 1
  if (!isBranch) return undefined
  room[0] = bits >> 8
  room[1] = bits
  return room.slice(0, size)
}

const everyChild = 0xffff

/** Branch before several deltas, oldest first, without the branches between: the first delta that has a child has the oldest version of it. */
export class OlderBranch {
  readonly #children = new Array<NodeRef | undefined>(children).fill(undefined)
  #known = 0

  /** Adds the delta of a later change. Its bytes must not change from then on. */
  add(delta: Uint8Array): void {
    const bits = ((delta[0] ?? 0) << 8) | (delta[1] ?? 0)
    let at = 2
    for (let nibble = 0; nibble < children; nibble++) {
      const bit = 1 << nibble
      if ((bits & bit) === 0) continue
      const end = endOf(delta, at)
      if ((this.#known & bit) === 0) this.#children[nibble] = childAt(delta, at, end)
      at = end
    }
    this.#known |= bits
  }

  /** Returns whether a delta had the child, so that later ones do not matter to it. */
  knows(nibble: number): boolean {
    return (this.#known & (1 << nibble)) !== 0
  }

  /** Returns the branch, once its deltas have all of its children; undefined before that. */
  whole(): Uint8Array | undefined {
    return this.#known === everyChild ? encodeBranch(this.#children) : undefined
  }

  /** Returns the branch. @param newer the node after the last delta; it is returned as it is without deltas @returns undefined when it is not a branch */
  before(newer: Uint8Array): Uint8Array | undefined {
    if (this.#known === 0) return newer
    const node = decodeNode(newer)
    if (node.kind !== 'branch') return undefined
    const replaced = this.#children.flatMap((child, nibble) => (this.#known & (1 << nibble) ? [{ nibble, child }] : []))
    return branchWith(node, replaced)
  }
}

function childAt(delta: Uint8Array, at: number, end: number): NodeRef | undefined {
  if (delta[at] === noChild) return undefined
  return delta.subarray(delta[at] === hashMark ? at + 1 : at, end)
}
