import { concatBytes, emptyBytes, equalBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { KvWriter } from '#store/ports'
import { decodeNode, type NodeRef, type TrieNode } from '#trie/node'
import { stepTo } from '#trie/readTrie'
import { emptyRoot, type Hash } from '#types/ids'
import { decodeAccount, decodeAccountRow } from './account.ts'
import { type BlockWitness, enterWitness } from './blockWitness.ts'
import { eachChild, putNode } from './enteredNodes.ts'
import { endFill, type FillProgress, writeFill } from './fillProgress.ts'
import { storedNode } from './partialState.ts'
import { lowestWith } from './rowState.ts'
import { accountsTable, codeTable, writeMark } from './rows.ts'

/** A trie node with its place. `owner` and `path` as in `NodeSource`. */
export type PlacedNode = { readonly owner: Uint8Array | undefined; readonly path: Uint8Array; readonly rlp: Uint8Array }

/** Part of a state. Parents precede their children, and accounts their storage. */
export type FetchedState = {
  readonly nodes: readonly PlacedNode[]
  readonly codes: readonly Uint8Array[]
  /** what the executed block reads; `stored`: it was stored before */
  readonly witness?: BlockWitness | 'stored'
  /** with the last part of a step of the fill: how far it is */
  readonly fill?: FillProgress | 'whole'
}

/** Most nodes of one `placeNodes`: a storage trie is placed once for each account that has it. */
const maxPlaced = 200_000

/**
 * Returns the nodes that a state root ties to itself by hashes, with their places: nodes of the account trie, and of the storage of each account among them.
 * @param untrusted RLP by the hex of its keccak, which the caller has computed; other nodes are left out
 */
export function placeNodes(untrusted: ReadonlyMap<string, Uint8Array>, stateRoot: Hash): readonly PlacedNode[] {
  const placed: PlacedNode[] = []
  const visit = (owner: Uint8Array | undefined, path: Uint8Array, ref: NodeRef): void => {
    const rlp = ref.length === 32 ? untrusted.get(toHex(ref)) : ref
    if (rlp === undefined || placed.length >= maxPlaced) return
    if (ref.length === 32) placed.push({ owner, path, rlp })
    const node = decodeNode(rlp)
    if (node.kind !== 'leaf')
      eachChild(
        node,
        path,
        () => true,
        (below, child) => visit(owner, below, child),
      )
    else if (owner === undefined) storage(lowestWith(concatBytes(path, node.path)), decodeAccount(node.value).storageRoot)
  }
  const storage = (owner: Uint8Array, root: Hash): void => {
    // a witness has the node of the empty trie too
    if (root !== emptyRoot) visit(owner, emptyBytes, fromHex(root))
  }
  visit(undefined, emptyBytes, fromHex(stateRoot))
  return placed
}

/** Writes unknown parts of the latest state. Nothing that is stored changes. */
class PartWriter {
  readonly #tx: KvWriter
  /** stored nodes that were read, by owner and path */
  readonly #nodes = new Map<string, TrieNode>()

  constructor(tx: KvWriter) {
    this.#tx = tx
  }

  /** Writes a node if the latest state has it and it is not stored. */
  node({ owner, path, rlp }: PlacedNode): void {
    if (this.#stored(owner, path)) return
    const ref = this.#refAt(owner, path)
    if (ref === undefined || !equalBytes(keccak256(rlp), ref)) return
    putNode(this.#tx, owner, path, rlp, decodeNode(rlp))
  }

  #stored(owner: Uint8Array | undefined, path: Uint8Array): TrieNode | undefined {
    const name = `${owner ? toHex(owner) : ''}${toHex(path)}`
    const known = this.#nodes.get(name) ?? storedNode(this.#tx, owner, path)
    if (known) this.#nodes.set(name, known)
    return known
  }

  /** Returns the reference to the node at a path in the latest state, if all nodes above it are stored. */
  #refAt(owner: Uint8Array | undefined, path: Uint8Array): NodeRef | undefined {
    if (path.length === 0) return owner && this.#storageRoot(owner)
    let ref: NodeRef | undefined
    for (let depth = 0; depth < path.length; ) {
      const node: TrieNode | undefined = ref && ref.length !== 32 ? decodeNode(ref) : this.#stored(owner, path.subarray(0, depth))
      const step = node && stepTo(node, path, depth)
      if (step === undefined || 'value' in step) return undefined
      ref = step.child
      depth = step.depth
    }
    return ref
  }

  #storageRoot(owner: Uint8Array): NodeRef | undefined {
    const row = this.#tx.get(accountsTable, owner)
    const { storageRoot = emptyRoot } = row ? decodeAccountRow(row) : {}
    return storageRoot === emptyRoot ? undefined : fromHex(storageRoot)
  }
}

/**
 * Adds parts of a state to the latest state, as far as hashes tie them to it: a part of an older state counts where the state has not changed since.
 * Known parts are left unchanged. These rows are no changes of a block, and an unwind does not remove them.
 */
export function enterFetched(tx: KvWriter, { nodes, codes, witness, fill }: FetchedState): void {
  const writer = new PartWriter(tx)
  for (const node of nodes) writer.node(node)
  for (const code of codes) {
    const hash = keccak256(code)
    if (tx.get(codeTable, hash) === undefined) tx.put(codeTable, hash, code)
  }
  if (witness && witness !== 'stored') enterWitness(tx, witness)
  if (fill === 'whole') endFill(tx)
  else if (fill) writeFill(tx, fill)
}

/** Begins a partial state in empty tables with the root node of a block's state. The caller compares its hash with the block's header. */
export function beginPartialState(tx: KvWriter, number: number, rootNode: Uint8Array): void {
  putNode(tx, undefined, emptyBytes, rootNode, decodeNode(rootNode))
  writeMark(tx, 'partial', number)
}
