import { concatBytes } from '#lib/bytes'
import { decodeRlp, rlpBytes } from '#lib/rlp'
import type { KvWriter } from '#store/ports'
import { childOf, decodeNode, type NodeRef, type TrieNode } from '#trie/node'
import { decodeAccount, encodeAccountRow } from './account.ts'
import { lowestWith } from './rowState.ts'
import { accountsTable, nodeKey, storageTable } from './rows.ts'

/** Calls a function with each child of a node that is not a leaf, and the path of the child. @param isWanted whether a child matters */
export function eachChild(
  node: TrieNode,
  path: Uint8Array,
  isWanted: (ref: NodeRef) => boolean,
  visit: (path: Uint8Array, ref: NodeRef) => void,
): void {
  if (node.kind === 'extension' && isWanted(node.child)) visit(concatBytes(path, node.path), node.child)
  for (let nibble = 0; node.kind === 'branch' && nibble < 16; nibble++) {
    const child = childOf(node, nibble)
    if (child && isWanted(child)) visit(concatBytes(path, Uint8Array.of(nibble)), child)
  }
}

/**
 * Writes a node that belongs to the latest state, with the leaves that are embedded in it. A leaf is a row of its key.
 * @param owner, path as in `NodeSource` @param node the decoded RLP
 */
export function putNode(tx: KvWriter, owner: Uint8Array | undefined, path: Uint8Array, rlp: Uint8Array, node: TrieNode): void {
  if (node.kind === 'leaf') {
    putLeaf(tx, owner, lowestWith(concatBytes(path, node.path)), node.value)
    return
  }
  const { table, key } = nodeKey(owner, path)
  tx.put(table, key, rlp)
  putEmbedded(tx, owner, path, node)
}

const isEmbedded = ({ length }: NodeRef): boolean => length !== 32

function putEmbedded(tx: KvWriter, owner: Uint8Array | undefined, path: Uint8Array, node: TrieNode): void {
  eachChild(node, path, isEmbedded, (below, ref) => {
    const child = decodeNode(ref)
    if (child.kind === 'leaf') putLeaf(tx, owner, lowestWith(concatBytes(below, child.path)), child.value)
    else putEmbedded(tx, owner, below, child)
  })
}

function putLeaf(tx: KvWriter, owner: Uint8Array | undefined, key: Uint8Array, value: Uint8Array): void {
  if (owner === undefined) tx.put(accountsTable, key, encodeAccountRow(decodeAccount(value)))
  else tx.put(storageTable, concatBytes(owner, key), rlpBytes(decodeRlp(value), 'slot'))
}
