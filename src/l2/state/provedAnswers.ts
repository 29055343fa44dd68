import { Buffer } from 'node:buffer'
import { messagePasser } from '#chainspec/addresses'
import { concatBytes, equalBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { sharedBytes } from '#lib/packedBytes'
import { decodeRlp, rlpBigint } from '#lib/rlp'
import { decodeAccount } from '#state/account'
import type { BlockWitness } from '#state/blockWitness'
import { type FetchedState, placeNodes } from '#state/fetchedState'
import { lowestWith } from '#state/rowState'
import type { BlockToExecute, StateRequest } from '#state/stateSource'
import { decodeNode } from '#trie/node'
import { verifyProof } from '#trie/proof'
import { verifyRange } from '#trie/rangeProof'
import type { Account } from '#types/account'
import { type Address, emptyCodeHash, emptyRoot, type Hash, hashFromBytes } from '#types/ids'
import { bigintField, bytesField, has, hashField, type Json, listOf, objectOf, ShapeError } from '#types/jsonShape'
import type { RpcCall } from '../rpc.ts'

/** An answer that contradicts the state root: its source is wrong or lies. */
export class WrongProof extends Error {}

/** Calls for a part of a state. `read` verifies their results. @throws WrongProof; ShapeError on results of another form; undefined: the source lacks it */
export type Question<T = FetchedState> = { readonly calls: readonly RpcCall[]; read(results: readonly unknown[]): T | undefined }

/** Longest proof: two paths of 64 branches and a leaf. Longest node: a branch of hashes. */
const [maxNodes, maxNodeBytes] = [130, 600]

/** Keys of the account and of the slot on whose paths the wanted part is. A node is on the path of the lowest key below it. */
function keysOf(wanted: StateRequest['wanted']): { readonly account: Uint8Array; readonly slot?: Uint8Array } | undefined {
  const below = (path: Uint8Array): Uint8Array => {
    const key = new Uint8Array(32)
    key.set(lowestWith(path))
    return key
  }
  switch (wanted.kind) {
    case 'account':
      return { account: wanted.addressKey }
    case 'slot':
      return { account: wanted.addressKey, slot: wanted.slotKey }
    case 'node':
      return wanted.owner ? { account: wanted.owner, slot: below(wanted.path) } : { account: below(wanted.path) }
    case 'code':
    case 'blockHash':
      return undefined
  }
}

function bytesList(value: unknown, what: string, most: number): Uint8Array[] {
  const list = listOf(value, what)
  if (list.length > most) throw new ShapeError(`${what} has ${list.length} parts`)
  return list.map((part) => bytesField({ [what]: part }, what))
}

/** Reads the nodes of a proof. @throws ShapeError */
export function proofOf(value: unknown): Uint8Array[] {
  const proof = bytesList(value, 'proof', maxNodes)
  if (proof.some(({ length }) => length > maxNodeBytes)) throw new ShapeError('a node is too long')
  return proof
}

/** Returns nodes by the hex of their hash. */
function byHash(nodes: Iterable<Uint8Array>): Map<string, Uint8Array> {
  return new Map(Array.from(nodes, (rlp) => [toHex(keccak256(rlp)), rlp]))
}

/** Returns the code of an account, verified; undefined when the account has none. */
function codeOf(result: unknown, codeHash: Hash): Uint8Array | undefined {
  if (codeHash === emptyCodeHash) return undefined
  const code = bytesField({ code: result }, 'code')
  if (hashFromBytes(keccak256(code)) !== codeHash) throw new WrongProof('the code has another hash')
  return code
}

const atBlock = ({ at }: StateRequest): Json => ({ blockHash: at.hash })
/** Code of an account by its address, while the account is unknown too. */
const codeCall = (request: StateRequest, address: Address): RpcCall => ({ method: 'eth_getCode', params: [address, atBlock(request)] })

/** Returns the leaf of one key and its proof from an answer to `basalt_stateRange` about this key only. */
function pointOf(root: Hash, key: Uint8Array, result: unknown): { readonly value: Uint8Array | undefined; readonly proof: Uint8Array[] } {
  const json = objectOf(result, 'range')
  const proof = proofOf(json['proof'])
  const leaves = listOf(json['leaves'], 'leaves').map((leaf) => {
    const fields = objectOf(leaf, 'leaf')
    return { key: bytesField(fields, 'key'), value: bytesField(fields, 'value') }
  })
  if (leaves.length > 1) throw new ShapeError(`${leaves.length} leaves of one key`)
  const verdict = verifyRange(root, { first: key, last: key }, leaves, proof)
  if (verdict.kind === 'invalid') throw new WrongProof(verdict.reason)
  return { value: leaves[0]?.value, proof }
}

/** Question to a node that serves ranges of hashed keys: for an account, its code is requested too. */
export function rangeQuestion(request: StateRequest, how?: 'without code'): Question | undefined {
  const { wanted, at } = request
  if (wanted.kind === 'code') return codeByHash(wanted.codeHash)
  const keys = keysOf(wanted)
  if (keys === undefined) return undefined
  const point = (key: Uint8Array, owner?: Uint8Array): RpcCall => ({
    method: 'basalt_stateRange',
    params: [atBlock(request), toHex(key), toHex(key), owner ? toHex(owner) : null],
  })
  const { account, slot } = keys
  const address = wanted.kind === 'account' && how === undefined ? wanted.address : undefined
  return {
    calls: [point(account), ...(slot ? [point(slot, account)] : []), ...(address ? [codeCall(request, address)] : [])],
    read([first, second]): FetchedState {
      const found = pointOf(at.stateRoot, account, first)
      const { storageRoot, codeHash } = found.value ? decodeAccount(found.value) : { storageRoot: emptyRoot, codeHash: emptyCodeHash }
      const storage = slot ? pointOf(storageRoot, slot, second).proof : []
      const code = address && codeOf(second, codeHash)
      return { nodes: placeNodes(byHash([...found.proof, ...storage]), at.stateRoot), codes: code ? [code] : [] }
    },
  }
}

function codeByHash(codeHash: Hash): Question {
  return {
    calls: [{ method: 'debug_codeByHash', params: [codeHash] }],
    read([result]): FetchedState | undefined {
      const code = result === null ? undefined : codeOf(result, codeHash)
      return code && { nodes: [], codes: [code] }
    },
  }
}

/** Accounts that execution reads by their keys. */
const readByKey: ReadonlyMap<string, Address> = new Map([messagePasser].map((address) => [toHex(keccak256(fromHex(address))), address]))

/**
 * Question to a node that serves `eth_getProof`, which takes addresses and numbers of slots.
 * @param addressOf address of an account with a code, if one is known
 * @returns undefined when the request lacks them
 */
export function proofQuestion(request: StateRequest, addressOf: (codeHash: Hash) => Address | undefined): Question | undefined {
  const { wanted } = request
  if (wanted.kind === 'code') {
    const address = addressOf(wanted.codeHash)
    // another code is no lie: the account may have changed its code
    const read = ([result]: readonly unknown[]): FetchedState | undefined => {
      const code = bytesField({ code: result }, 'code')
      return hashFromBytes(keccak256(code)) === wanted.codeHash ? { nodes: [], codes: [code] } : undefined
    }
    return address && { calls: [codeCall(request, address)], read }
  }
  if (wanted.kind !== 'account' && wanted.kind !== 'slot') return undefined
  const address = wanted.address ?? readByKey.get(toHex(wanted.addressKey))
  const slot = wanted.kind === 'slot' ? wanted.slot : undefined
  if (address === undefined || (wanted.kind === 'slot' && slot === undefined)) return undefined
  const isAccount = wanted.kind === 'account'
  return {
    calls: [
      { method: 'eth_getProof', params: [address, slot ? [slot] : [], atBlock(request)] },
      ...(isAccount ? [codeCall(request, address)] : []),
    ],
    read([proof, code]): FetchedState {
      const { nodes, account } = provedAccount(request, address, slot, proof)
      const found = isAccount ? codeOf(code, account?.codeHash ?? emptyCodeHash) : undefined
      return { nodes: placeNodes(byHash(nodes), request.at.stateRoot), codes: found ? [found] : [] }
    },
  }
}

/** Returns the value of a key by its proof; undefined: it is proved to be absent. */
function provedValue(root: Hash, hexKey: string, proof: readonly Uint8Array[]): Uint8Array | undefined {
  const verdict = verifyProof(root, keccak256(fromHex(hexKey)), proof)
  if (verdict.kind === 'invalid') throw new WrongProof(verdict.reason)
  return verdict.kind === 'present' ? verdict.value : undefined
}

function provedAccount(
  { at }: StateRequest,
  address: Address,
  slot: Hash | undefined,
  result: unknown,
): { readonly nodes: readonly Uint8Array[]; readonly account: Account | undefined } {
  const json = objectOf(result, 'proof')
  const nodes = proofOf(json['accountProof'])
  const leaf = provedValue(at.stateRoot, address, nodes)
  const account = leaf && decodeAccount(leaf)
  requireClaimed(json, account)
  if (slot === undefined) return { nodes, account }
  const entry = objectOf(listOf(json['storageProof'], 'storage proofs')[0], 'storage proof')
  const storage = proofOf(entry['proof'])
  const value = provedValue(account?.storageRoot ?? emptyRoot, slot, storage)
  if (has(entry, 'value') && bigintField(entry, 'value') !== (value ? rlpBigint(decodeRlp(value), 'slot') : 0n)) {
    throw new WrongProof('the value of a slot differs from its proof')
  }
  return { nodes: [...nodes, ...storage], account }
}

/** Compares the values of an answer with its proof: they are not used, but show a source that lies. */
function requireClaimed(json: Json, account: Account | undefined): void {
  const { balance = 0n, nonce = 0n } = account ?? {}
  const isEqual =
    (!has(json, 'balance') || bigintField(json, 'balance') === balance) &&
    (!has(json, 'nonce') || bigintField(json, 'nonce') === nonce) &&
    (account === undefined || !has(json, 'codeHash') || hashField(json, 'codeHash') === account.codeHash) &&
    (account === undefined || !has(json, 'storageHash') || hashField(json, 'storageHash') === account.storageRoot)
  if (!isEqual) throw new WrongProof('an account differs from its proof')
}

/** Bounds of a witness, in parts. */
const maxWitnessParts = 200_000

/** Packs a list of hex strings. @throws ShapeError */
function packedField(json: Json, key: string): BlockWitness['nodes'] {
  const list = listOf(json[key], key)
  if (list.length > maxWitnessParts) throw new ShapeError(`${key} has ${list.length} parts`)
  const texts = list.map((text) => {
    if (typeof text !== 'string' || !text.startsWith('0x') || text.length % 2 !== 0)
      throw new ShapeError(`${key} has a part that is not hex`)
    return text.slice(2)
  })
  const bytes = sharedBytes(texts.reduce((sum, { length }) => sum + length / 2, 0))
  const [out, ends] = [Buffer.from(bytes.buffer), new Uint32Array(new SharedArrayBuffer(4 * texts.length))]
  let at = 0
  for (const [i, text] of texts.entries()) {
    const written = out.write(text, at, 'hex')
    if (written !== text.length / 2) throw new ShapeError(`${key} has a part that is not hex`)
    at += written
    ends[i] = at
  }
  return { bytes, ends }
}

/** Question for all that a block reads. The writer of the state uses what hashes tie to it, so that a witness cannot be wrong, only useless. */
export function witnessQuestion({ hash, parentStateRoot: stateRoot }: BlockToExecute): Question<BlockWitness> {
  return {
    calls: [{ method: 'debug_executionWitnessByBlockHash', params: [hash] }],
    read([result]): BlockWitness {
      const json = objectOf(result, 'witness')
      return { stateRoot, nodes: packedField(json, 'state'), codes: packedField(json, 'codes') }
    },
  }
}

/** Returns the code hash of an account whose leaf is among nodes. */
export function codeHashOf(nodes: FetchedState['nodes'], addressKey: Uint8Array): Hash | undefined {
  const leaf = nodes.find(({ owner, path, rlp }) => {
    const node = owner ? undefined : decodeNode(rlp)
    return node?.kind === 'leaf' && equalBytes(lowestWith(concatBytes(path, node.path)), addressKey)
  })
  return leaf && codeHashIn(leaf.rlp)
}

function codeHashIn(rlp: Uint8Array): Hash | undefined {
  const node = decodeNode(rlp)
  return node.kind === 'leaf' ? decodeAccount(node.value).codeHash : undefined
}
