import { keccak256 } from '#lib/keccak'
import { partingOf } from './nibbles.ts'
import { type ExtensionNode, encodeBranch, encodeNode, type LeafNode, type NodeRef } from './node.ts'
import type { NodeChange } from './ports.ts'

/**
 * A subtree whose top node has no final place yet. A leaf or extension may still be merged with its parent, so it is encoded once the parent is
 * known. A branch never moves: it is placed already, and the draft holds only its reference.
 */
export type Draft = LeafNode | ExtensionNode | { readonly kind: 'branch'; readonly ref: NodeRef }

/** Content at the end of a full path (all nibbles from the root): a value, or the reference to a placed subtree. */
export type Entry =
  | { readonly path: Uint8Array; readonly value: Uint8Array; readonly child?: undefined }
  | { readonly path: Uint8Array; readonly child: NodeRef; readonly value?: undefined }

/** Collects nodes by path; undefined when the caller needs only the root. */
export type Sink = NodeChange[] | undefined

/**
 * Puts a node, given as RLP, at its final place and returns its reference. The root is always referenced by hash, even if its RLP is short.
 * @param hadNode whether a node was stored at the path before; it is removed when the new node is embedded in its parent
 */
export function place(sink: Sink, path: Uint8Array, rlp: Uint8Array, hadNode: boolean): NodeRef {
  if (rlp.length < 32 && path.length > 0) {
    if (hadNode) sink?.push({ path, node: null })
    return rlp
  }
  sink?.push({ path, node: rlp })
  return keccak256(rlp)
}

/** Puts a draft at its final place and returns its reference. */
export function placeDraft(sink: Sink, path: Uint8Array, draft: Draft, hadNode: boolean): NodeRef {
  return draft.kind === 'branch' ? draft.ref : place(sink, path, encodeNode(draft), hadNode)
}

/**
 * Builds a subtree from scratch.
 * @param hadNode whether a node was stored at the top's path before; no node was stored below it
 * @param entries ascending by path, none the prefix of another; the range [from, to) shares its first `depth` nibbles
 * @throws RangeError when a path is the prefix of another
 */
export function draftOf(sink: Sink, entries: readonly Entry[], from: number, to: number, depth: number, hadNode: boolean): Draft {
  const first = entries[from] as Entry
  const { path } = first
  if (to - from === 1) return topOf(first, depth)
  const parting = partingOf(path, (entries[to - 1] as Entry).path, depth)
  const children = new Array<NodeRef | undefined>(16).fill(undefined)
  for (let start = from; start < to; ) {
    const own = (entries[start] as Entry).path
    const nibble = own[parting]
    if (nibble === undefined) throw new RangeError('trie: a key is the prefix of another')
    let end = start + 1
    while (end < to && entries[end]?.path[parting] === nibble) end++
    children[nibble] = placeDraft(sink, own.subarray(0, parting + 1), draftOf(sink, entries, start, end, parting + 1, false), false)
    start = end
  }
  const ref = place(sink, path.subarray(0, parting), encodeBranch(children), hadNode && parting === depth)
  return parting === depth ? { kind: 'branch', ref } : { kind: 'extension', path: path.subarray(depth, parting), child: ref }
}

function topOf(entry: Entry, depth: number): Draft {
  const path = entry.path.subarray(depth)
  if (entry.value !== undefined) return { kind: 'leaf', path, value: entry.value }
  return path.length === 0 ? { kind: 'branch', ref: entry.child } : { kind: 'extension', path, child: entry.child }
}
