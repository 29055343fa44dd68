import { bytesFromBigint, compareBytes, emptyBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { encodeRlp, rlpScalar } from '#lib/rlp'
import { encodeAccount } from '#state/account'
import type { NodeSource } from '#trie/ports'
import { createProof } from '#trie/proof'
import type { L1StateRef, ProofRequest } from '#trust/ports'
import { type Header, hashHeader } from '#types/header'
import { type Address, emptyCodeHash, type Hash, hashFromBytes } from '#types/ids'
import { buildTrie } from '../chain/buildTrie.ts'
import { headerOf } from '../chain/headers.ts'

/** Code and storage of a contract; slots are numbers. */
export type Contract = { readonly code: Uint8Array; readonly slots: ReadonlyMap<bigint, bigint> }

/** L1 block with a state of some contracts, which answers as an endpoint does. */
export interface L1State {
  readonly block: L1StateRef
  readonly header: Header
  /** Returns the result of `eth_getProof`. */
  proof(request: ProofRequest): unknown
  /** Returns the result of `eth_getCode`. */
  code(address: Address): unknown
}

type BuiltTrie = { readonly root: Hash; readonly nodes: NodeSource }

function trieOf(entries: readonly (readonly [key: Uint8Array, value: Uint8Array])[]): BuiltTrie {
  const hashed = entries.map(([key, value]) => ({ key: keccak256(key), value })).toSorted((a, b) => compareBytes(a.key, b.key))
  const { root, changes } = buildTrie(hashed)
  const byHash = new Map(changes.flatMap(({ node }) => (node ? [[toHex(keccak256(node)), node] as const] : [])))
  return { root, nodes: { get: (_owner, _path, hash) => byHash.get(toHex(hash)) } }
}

const word = (value: bigint): Uint8Array => bytesFromBigint(value, 32)

/** Builds an L1 block whose state has the contracts. */
export function l1StateOf(contracts: ReadonlyMap<Address, Contract>, at: { readonly number: number; readonly timestamp: number }): L1State {
  const storage = new Map(
    [...contracts].map(([address, { slots }]) => {
      const values = [...slots].filter(([, value]) => value !== 0n)
      return [address, trieOf(values.map(([slot, value]) => [word(slot), encodeRlp(rlpScalar(value))]))]
    }),
  )
  const accounts = trieOf(
    [...contracts].map(([address, { code }]) => {
      const codeHash = code.length === 0 ? emptyCodeHash : hashFromBytes(keccak256(code))
      const storageRoot = storage.get(address)?.root ?? trieOf([]).root
      return [fromHex(address), encodeAccount({ nonce: 1n, balance: 0n, storageRoot, codeHash })]
    }),
  )
  const header = headerOf({ ...at, stateRoot: accounts.root })
  const proofOf = ({ nodes, root }: BuiltTrie, key: Uint8Array): string[] =>
    createProof(nodes, undefined, root, keccak256(key)).map((node) => toHex(node))
  return {
    header,
    block: { ...at, hash: hashHeader(header), parentHash: header.parentHash, stateRoot: accounts.root },
    proof({ address, slots }): unknown {
      const trie = storage.get(address) ?? trieOf([])
      return {
        address,
        accountProof: proofOf(accounts, fromHex(address)),
        storageProof: slots.map((slot) => ({ key: slot, proof: proofOf(trie, fromHex(slot)) })),
      }
    },
    code: (address) => toHex(contracts.get(address)?.code ?? emptyBytes),
  }
}
