import { readCanonicalHash, readHeader } from '#blockchain/chainStore'
import { oldestProof, undoDiff } from '#state/chainState'
import { isMarkedDeleted } from '#state/changeIndex'
import type { Digest } from '#state/digests/digests'
import { changesOf, type RowChange } from '#state/history'
import { blockRowKey, NodeChanges } from '#state/nodeHistory'
import { nodeKey, readMark } from '#state/rows'
import { computeStateRoot } from '#state/stateRoot'
import type { WorldState } from '#state/worldState'
import type { KvReader } from '#store/ports'
import { tables } from '#store/tables'
import { isLeafRlp } from '#trie/node'
import type { NodeSource } from '#trie/ports'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import { proofsFault } from './faults.ts'
import type { BlockChanges } from './proofStore.ts'

/** Returns the canonical block at a number. @throws RangeError when the chain has none */
export function blockAt(chain: KvReader, number: number): BlockId {
  const hash = readCanonicalHash(chain, number)
  if (hash === undefined) throw new RangeError(`block ${number} is not in the chain`)
  return { number, hash }
}

/** Returns the state root in the header of a canonical block. */
export function stateRootAt(chain: KvReader, number: number): Hash {
  const header = readHeader(chain, blockAt(chain, number))
  if (header === undefined) throw new RangeError(`the header of block ${number} is not in the chain`)
  return header.stateRoot
}

/** Returns the block after which the chain's history has both values and trie nodes in the formats that are copied. */
export function firstCopied(chain: KvReader): number {
  return Math.max(oldestProof(chain), readMark(chain, 'nodes') ?? 0, readMark(chain, 'runs') ?? 0)
}

/** Returns the changed values of a block, and those that it deleted. */
function changedValues(chain: KvReader, number: number): Pick<BlockChanges, 'values' | 'deleted'> {
  const values = [...changesOf(chain, number)]
  const deleted = values.filter((row) => row.before !== undefined && (row.isDeleted ?? isMarkedDeleted(chain, row, number)))
  return { values, deleted }
}

/** Copies what a block changed from the chain's history. @param number above `firstCopied`, of a block of which `canCopyNodes` */
export function copiedChanges(chain: KvReader, number: number): BlockChanges {
  const nodes = chain.get(tables.nodeHistory.id, blockRowKey(number))
  return { id: blockAt(chain, number), ...changedValues(chain, number), nodes }
}

/** Records the nodes that are read, by table and key. */
class ReadNodes implements NodeSource {
  readonly #inner: NodeSource
  readonly rows = new Map<string, Uint8Array>()

  constructor(inner: NodeSource) {
    this.#inner = inner
  }

  get(owner: Uint8Array | undefined, path: Uint8Array, hash: Uint8Array, way?: Uint8Array): Uint8Array | undefined {
    const node = this.#inner.get(owner, path, hash, way)
    const { table, key } = nodeKey(owner, path)
    if (node && !isLeafRlp(node)) this.rows.set(nameOf(table, key), node)
    return node
  }
}

const nameOf = (table: number, key: Uint8Array): string => `${table}:${Buffer.from(key).toString('latin1')}`

/**
 * Computes the trie nodes that a block replaced from its changed values.
 * @param state after the block
 * @param digest of the block in the proofs
 * @returns the row as of `nodeHistory.ts`
 * @throws Fault PROOFS_MISMATCH when the values do not lead to the state root of the parent
 */
function undoneNodes(
  chain: KvReader,
  number: number,
  state: WorldState,
  values: readonly RowChange[],
  digest: Digest,
): Uint8Array | undefined {
  const after = new ReadNodes(state.nodes)
  const undone = computeStateRoot(after, stateRootAt(chain, number), undoDiff(values))
  const expected = stateRootAt(chain, number - 1)
  if (undone.root !== expected) throw proofsFault('PROOFS_MISMATCH', { number: number - 1, expected, found: undone.root })
  const changes = new NodeChanges(number, digest)
  for (const { owner, path, node } of undone.nodes) {
    const { table, key } = nodeKey(owner, path)
    const [before, replaced] = [node && !isLeafRlp(node) ? node : undefined, after.rows.get(nameOf(table, key))]
    if (before ?? replaced) changes.add(table, key, before, replaced)
  }
  return changes.encode()
}

/** Computes what a block changed from its values in the chain's history. @param state after the block @param digest of the block in the proofs */
export function computedChanges(chain: KvReader, number: number, state: WorldState, digest: Digest): BlockChanges {
  const changed = changedValues(chain, number)
  return { id: blockAt(chain, number), ...changed, nodes: undoneNodes(chain, number, state, changed.values, digest) }
}
