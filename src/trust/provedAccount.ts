import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { decodeRlp, RlpError, rlpBigint } from '#lib/rlp'
import { decodeAccount } from '#state/account'
import { verifyProof } from '#trie/proof'
import { emptyCodeHash, emptyRoot, type Hash } from '#types/ids'
import { listOf, objectOf, ShapeError } from '#types/jsonShape'
import type { ProofRequest } from './ports.ts'

/** Longest proof: a branch for each nibble of a key of 32 bytes, and a leaf. */
const maxNodes = 65

export type ProvedAccount = {
  readonly kind: 'proved'
  readonly codeHash: Hash
  /** values of the requested slots, in their order; 0 for a slot without one */
  readonly values: readonly bigint[]
}
export type AccountVerdict = ProvedAccount | { readonly kind: 'invalid'; readonly reason: string }

function nodesOf(value: unknown, what: string): Uint8Array[] {
  const nodes = listOf(value, what)
  if (nodes.length > maxNodes) throw new ShapeError(`${what} has ${nodes.length} nodes`)
  return nodes.map((node) => fromHex(String(node)))
}

/** Returns the value of a key under a root; undefined: the trie has none. @throws ShapeError on an invalid proof */
function provedLeaf(root: Hash, hexKey: string, value: unknown, what: string): Uint8Array | undefined {
  const verdict = verifyProof(root, keccak256(fromHex(hexKey)), nodesOf(value, what))
  if (verdict.kind === 'invalid') throw new ShapeError(`${what} is invalid: ${verdict.reason}`)
  return verdict.kind === 'present' ? verdict.value : undefined
}

/** @throws ShapeError, RlpError, SyntaxError on an invalid proof */
function prove(stateRoot: Hash, { address, slots }: ProofRequest, answer: unknown): ProvedAccount {
  const json = objectOf(answer, 'proof')
  const leaf = provedLeaf(stateRoot, address, json['accountProof'], 'account proof')
  const { codeHash, storageRoot } = leaf ? decodeAccount(leaf) : { codeHash: emptyCodeHash, storageRoot: emptyRoot }
  const entries = listOf(json['storageProof'], 'storage proofs')
  if (entries.length !== slots.length) throw new ShapeError(`${entries.length} storage proofs, requested were ${slots.length}`)
  const values = slots.map((slot, i) => {
    const value = provedLeaf(storageRoot, slot, objectOf(entries[i], 'storage proof')['proof'], `proof of slot ${slot}`)
    return value ? rlpBigint(decodeRlp(value), 'slot') : 0n
  })
  return { kind: 'proved', codeHash, values }
}

/**
 * Verifies an `eth_getProof` result: the account against a state root, each slot against the account's storage root. Values that the endpoint claims
 * beside its proofs are ignored.
 */
export function provedAccount(stateRoot: Hash, request: ProofRequest, answer: unknown): AccountVerdict {
  try {
    return prove(stateRoot, request, answer)
  } catch (error) {
    if (error instanceof ShapeError || error instanceof RlpError) return { kind: 'invalid', reason: error.message }
    // the message of a SyntaxError quotes the answer
    if (error instanceof SyntaxError) return { kind: 'invalid', reason: 'malformed hex' }
    throw error
  }
}
