import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { decodeAccount } from '#state/account'
import type { PlacedNode } from '#state/fetchedState'
import type { RangeRequest, StateRange, StateRequest } from '#state/stateSource'
import { verifyRange } from '#trie/rangeProof'
import { emptyRoot, type Hash, hashFromBytes } from '#types/ids'
import { bytesField, type Json, listOf, objectOf, ShapeError } from '#types/jsonShape'
import type { RpcCall } from '../rpc.ts'
import { proofOf, type Question, WrongProof } from './provedAnswers.ts'

/** Most leaves of one answer that are read. Basalt sends a quarter. */
const maxLeaves = 4_096
const highest = new Uint8Array(32).fill(255)

/** Returns the key after a key; undefined after the last one. */
function keyAfter(key: Uint8Array): Uint8Array | undefined {
  const at = key.findLastIndex((byte) => byte < 255)
  if (at < 0) return undefined
  const next = new Uint8Array(32)
  next.set(key.subarray(0, at + 1))
  next[at] = (next[at] ?? 0) + 1
  return next
}

/** Verifies an answer to `basalt_stateRange` from a key to the highest one. @throws WrongProof, ShapeError */
function rangeOf(owner: Uint8Array | undefined, first: Uint8Array, root: Hash, result: unknown): StateRange {
  const json = objectOf(result, 'range')
  const given = listOf(json['leaves'], 'leaves')
  if (given.length > maxLeaves) throw new ShapeError(`${given.length} leaves`)
  const leaves = given.map((leaf) => {
    const fields = objectOf(leaf, 'leaf')
    return { key: bytesField(fields, 'key'), value: bytesField(fields, 'value') }
  })
  const end = json['isWhole'] === true ? highest : leaves.at(-1)?.key
  if (end === undefined) throw new ShapeError('a range without leaves that continues')
  const proof = proofOf(json['proof'])
  const nodes: PlacedNode[] = []
  const verdict = verifyRange(root, { first, last: end }, leaves, proof, (path, rlp) => nodes.push({ owner, path, rlp }))
  if (verdict.kind === 'invalid') throw new WrongProof(verdict.reason)
  const bytes = [...proof, ...leaves.flatMap(({ key, value }) => [key, value])].reduce((sum, { length }) => sum + length, 0)
  // a parent's path is a prefix of its children's paths, and comes first
  nodes.sort((a, b) => Buffer.compare(a.path, b.path))
  return { leaves, nodes, next: keyAfter(end), bytes: 2 * bytes }
}

/**
 * Question for leaves with the nodes above them: ranges of the account trie, or of the storage of accounts. A range of a storage trie without a root asks for its
 * account too.
 */
export function rangesQuestion(at: StateRequest['at'], wanted: readonly RangeRequest[]): Question<readonly StateRange[]> {
  const block: Json = { blockHash: at.hash }
  const call = (first: Uint8Array, last: Uint8Array, owner?: Uint8Array): RpcCall => ({
    method: 'basalt_stateRange',
    params: [block, toHex(first), toHex(last), owner ? toHex(owner) : null],
  })
  return {
    calls: wanted.flatMap(({ owner, first, root }) => [
      ...(owner && root === undefined ? [call(owner, owner)] : []),
      call(first, highest, owner),
    ]),
    read(results): readonly StateRange[] {
      let next = 0
      return wanted.map((range) => {
        const { owner, first, root = owner ? storageRootOf(at.stateRoot, owner, results[next++]) : at.stateRoot } = range
        return rangeOf(owner, first, root, results[next++])
      })
    },
  }
}

/** Returns the storage root of an account by the proof of its leaf. */
function storageRootOf(stateRoot: Hash, key: Uint8Array, result: unknown): Hash {
  const json = objectOf(result, 'range')
  const leaves = listOf(json['leaves'], 'leaves').map((leaf) => ({ key, value: bytesField(objectOf(leaf, 'leaf'), 'value') }))
  const verdict = verifyRange(stateRoot, { first: key, last: key }, leaves, proofOf(json['proof']))
  if (verdict.kind === 'invalid') throw new WrongProof(verdict.reason)
  return leaves[0] ? decodeAccount(leaves[0].value).storageRoot : emptyRoot
}

/** Question for codes by their hashes. */
export function codesQuestion(hashes: readonly Hash[]): Question<readonly Uint8Array[]> {
  return {
    calls: hashes.map((hash) => ({ method: 'debug_codeByHash', params: [hash] })),
    read(results): readonly Uint8Array[] | undefined {
      if (results.some((result) => result === null)) return undefined
      return results.map((result, i) => {
        const code = bytesField({ code: result }, 'code')
        if (hashFromBytes(keccak256(code)) !== hashes[i]) throw new WrongProof('the code has another hash')
        return code
      })
    },
  }
}
