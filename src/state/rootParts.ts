import { emptyBytes, equalBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { type BranchNode, branchWith, childOf, decodeNode, type NodeRef } from '#trie/node'
import type { NodeSource } from '#trie/ports'
import { joinDiffs, type SharedNodes, topOf } from '#trie/trieDiff'
import type { DiffRows, NodeCheck, Tries, UpdatedState } from '#trie/tries'
import { type Hash, hashFromBytes } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'
import { readLayout } from '#types/stateDiffLayout'
import { sharedLayers } from './stateStack.ts'

/**
 * Returns whether other threads save more time than they cost: they have no cached nodes.
 * @param missShare of `Tries`, for the thread's last root
 */
export function isLarge(diff: StateDiff, missShare: number, { minRows }: Pick<RootThreads, 'minRows'>): boolean {
  const { accounts, slots } = readLayout(new DataView(diff.bytes))
  return (accounts.rows + slots.rows) * missShare >= minRows
}

/** Accounts of a diff whose keys begin with the same nibble: a child of the account trie's root. */
export type RootPart = { readonly nibble: number; readonly rows: DiffRows }

/** The root of a state after a diff, as other threads need it to compute parts of it. */
export type RootWork = {
  readonly parentRoot: Hash
  readonly diff: StateDiff
  /** in the order in which threads claim them */
  readonly parts: readonly RootPart[]
  /** Returns nodes above the last committed state, as of `sharedLayers`. Called when a thread takes the work. */
  layers(): readonly SharedNodes[]
}

/** A root of which several threads compute parts. Disposing ends their work. */
export interface SharedRoot extends Disposable {
  /** Takes a part for this thread. @returns false when another thread has it */
  claim(part: number): boolean
  /** Waits for a part that another thread has, for a bounded time. @returns undefined when it has failed or is late */
  result(part: number): UpdatedState | undefined
}

/** Threads that compute parts of state roots. */
export interface RootThreads {
  /** Minimum rows of a diff whose root is computed in parts, if no node is cached. */
  readonly minRows: number
  /** Offers work to the threads. @returns undefined when no thread takes it */
  offer(work: RootWork): SharedRoot | undefined
}

/** Returns the parts of a diff, ascending. A part has all rows of its accounts. */
function partsOf(diff: StateDiff): readonly RootPart[] {
  const bytes = new Uint8Array(diff.bytes)
  const { accounts, slots } = readLayout(new DataView(diff.bytes))
  const next = { accounts: 0, slots: 0 }
  /** Returns the rows from the next one on whose keys begin with a nibble. */
  const take = (name: 'accounts' | 'slots', nibble: number): readonly [number, number] => {
    const { rowsAt, rowBytes, rows } = name === 'accounts' ? accounts : slots
    const from = next[name]
    let to = from
    while (to < rows && (bytes[rowsAt + to * rowBytes] ?? 0) >> 4 === nibble) to++
    next[name] = to
    return [from, to]
  }
  const parts = Array.from({ length: 16 }, (_, nibble) => ({
    nibble,
    rows: { accounts: take('accounts', nibble), slots: take('slots', nibble) },
  }))
  return parts.filter((part) => rowCount(part) > 0)
}

export const rowCount = ({ rows: { accounts, slots } }: RootPart): number => accounts[1] - accounts[0] + slots[1] - slots[0]

/** Returns the root node of the account trie; undefined when it is missing, damaged or no branch. */
function topBranch(nodes: NodeSource, root: Hash): BranchNode | undefined {
  const hash = fromHex(root)
  const rlp = nodes.get(undefined, emptyBytes, hash)
  if (rlp === undefined || !equalBytes(keccak256(rlp), hash)) return undefined
  const top = decodeNode(rlp)
  return top.kind === 'branch' ? top : undefined
}

/**
 * Joins the results of parts.
 * @param top root node of the account trie before the diff
 * @param results ascending by nibble
 * @returns undefined when a part or all of them leave a root that is not a branch
 */
function joined(
  top: BranchNode,
  parentRoot: Hash,
  results: readonly { readonly nibble: number; readonly state: UpdatedState }[],
): UpdatedState | undefined {
  const replaced: { nibble: number; child: NodeRef | undefined }[] = []
  for (const { nibble, state } of results) {
    if (state.root === parentRoot) continue
    const rlp = topOf(state.nodes)
    const branch = rlp && decodeNode(rlp)
    if (branch?.kind !== 'branch') return undefined
    replaced.push({ nibble, child: childOf(branch, nibble) })
  }
  const rlp = branchWith(top, replaced)
  const after = decodeNode(rlp) as BranchNode
  const children = Array.from({ length: 16 }, (_, nibble) => childOf(after, nibble)).filter((child) => child !== undefined)
  if (children.length < 2) return undefined
  const hash = keccak256(rlp)
  return {
    root: hashFromBytes(hash),
    nodes: joinDiffs(
      results.map(({ state }) => state.nodes),
      replaced.length > 0 ? { hash, rlp } : undefined,
    ),
    storageRoots: new Map(results.flatMap(({ state }) => [...state.storageRoots])),
  }
}

/**
 * Computes a state root in parts, together with other threads. This thread computes each part that no other one has claimed or completes in time.
 * @param nodes of the state that `parentRoot` names: the last committed one and layers above it. Another thread may read another one, of a sibling too. So it
 *   compares each node with its hash, whatever root is expected: a root that matches does not prove that no changed node was left out
 * @param tries, expected as of `computeStateRoot`
 * @returns undefined when the diff has one part, no thread takes part, or the account trie's root is not a branch before and after the diff
 * @throws as `computeStateRoot`
 */
export function rootInParts(
  threads: RootThreads,
  nodes: NodeSource,
  parentRoot: Hash,
  diff: StateDiff,
  tries: Tries,
  expected: Hash | undefined,
): UpdatedState | undefined {
  const ascending = partsOf(diff)
  const top = topBranch(nodes, parentRoot)
  if (ascending.length < 2 || top === undefined) return undefined
  // the largest ones first, so that no thread ends with one of them while others are idle
  const parts = ascending.toSorted((a, b) => rowCount(b) - rowCount(a))
  using shared = threads.offer({ parentRoot, diff, parts, layers: () => sharedLayers(nodes) })
  if (shared === undefined) return undefined
  const check: NodeCheck = expected === undefined ? 'nodes' : 'root'
  const compute = ({ rows }: RootPart): UpdatedState => tries.updateRows(nodes, parentRoot, diff, rows, check)
  /** Returns the result of another thread. The next root finds its nodes in the cache, like its own. */
  const otherResult = (part: number): UpdatedState | undefined => {
    const result = shared.result(part)
    if (result) tries.keep(result.nodes)
    return result
  }
  const own = parts.map((part, i) => (shared.claim(i) ? compute(part) : undefined))
  const results = parts.map((part, i) => ({ nibble: part.nibble, state: own[i] ?? otherResult(i) ?? compute(part) }))
  return joined(
    top,
    parentRoot,
    results.toSorted((a, b) => a.nibble - b.nibble),
  )
}
