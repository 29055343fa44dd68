import { bigintFromBytes, concatBytes } from '#lib/bytes'
import { decodeRlp, encodeRlp, RlpError, type RlpItem, rlpBytes, rlpList, rlpScalar } from '#lib/rlp'
import { signDigest } from '#lib/secp256k1'
import type { Hash } from './ids.ts'
import { encodeTransaction, hashTransaction, type SignedTransaction, signingDigest } from './transaction.ts'

type Signature = 'yParity' | 'r' | 's'
type WithoutSignature<T> = T extends SignedTransaction ? Omit<T, Signature> : never

/** A transaction of type 0 to 4 before it is signed. A legacy transaction with `chainId` is replay-protected (EIP-155). */
export type UnsignedTransaction = WithoutSignature<SignedTransaction>

/** A signed transaction. `raw`: EIP-2718 bytes as in a block (a blob transaction without its sidecar). */
export type Signed<T = SignedTransaction> = { readonly transaction: T; readonly raw: Uint8Array; readonly hash: Hash }

/**
 * Signs a transaction with low s (EIP-2). Deterministic (RFC 6979).
 * @param privateKey 32 bytes
 * @throws RangeError when a field does not fit its encoding; Error on an invalid key
 */
export function signTransaction(unsigned: UnsignedTransaction, privateKey: Uint8Array): Signed {
  const open: SignedTransaction = { ...unsigned, yParity: 0, r: 0n, s: 0n }
  const { signature, yParity } = signDigest(signingDigest(open), privateKey)
  const [r, s] = [bigintFromBytes(signature.subarray(0, 32)), bigintFromBytes(signature.subarray(32))]
  const transaction: SignedTransaction = { ...unsigned, yParity, r, s }
  const raw = encodeTransaction(transaction)
  return { transaction, raw, hash: hashTransaction(raw) }
}

/**
 * The parts of a blob transaction that are sent on the network but not included in a block. For each blob: 131,072 bytes, a commitment and a proof
 * of 48 bytes each; with `kind: 'cells'` (EIP-7594) 128 cell proofs per blob, in blob order.
 */
export type BlobSidecar = {
  readonly kind: 'blobs' | 'cells'
  readonly blobs: readonly Uint8Array[]
  readonly commitments: readonly Uint8Array[]
  readonly proofs: readonly Uint8Array[]
}

const blobType = 3
const cellProofsVersion = 1

/**
 * Encodes the network form of a blob transaction.
 * @param raw EIP-2718 bytes of the signed transaction, as in a block; RangeError for another type
 * @see EIP-4844, "Networking"; EIP-7594, "Networking"
 */
export function wrapBlobTransaction(raw: Uint8Array, sidecar: BlobSidecar): Uint8Array {
  if (raw[0] !== blobType) throw new RangeError(`a transaction of type ${raw[0]} has no blobs`)
  const parts: RlpItem[] = [decodeRlp(raw.subarray(1))]
  if (sidecar.kind === 'cells') parts.push(rlpScalar(cellProofsVersion))
  parts.push(sidecar.blobs, sidecar.commitments, sidecar.proofs)
  return concatBytes(Uint8Array.of(blobType), encodeRlp(parts))
}

/**
 * Splits the network form of a blob transaction. Returns raw bytes of any other form unchanged, without a sidecar.
 * Does not verify blobs or proofs. Throws RlpError on a malformed wrapper.
 */
export function unwrapBlobTransaction(bytes: Uint8Array): { readonly raw: Uint8Array; readonly sidecar?: BlobSidecar } {
  if (bytes[0] !== blobType) return { raw: bytes }
  const items = rlpList(decodeRlp(bytes.subarray(1)), 'blob transaction')
  const [body, ...rest] = items
  if (body === undefined || body instanceof Uint8Array) return { raw: bytes }
  const version = rest.length === 4 ? rest.shift() : undefined
  if (rest.length !== 3) throw new RlpError(`blob transaction in a wrapper of ${items.length} parts`)
  if (version !== undefined && !(version instanceof Uint8Array && version.length === 1 && version[0] === cellProofsVersion)) {
    throw new RlpError('unknown version of a blob wrapper')
  }
  const [blobs = [], commitments = [], proofs = []] = rest.map((part) => rlpList(part, 'sidecar').map((item) => rlpBytes(item, 'sidecar')))
  return {
    raw: concatBytes(Uint8Array.of(blobType), encodeRlp(body)),
    sidecar: { kind: version === undefined ? 'blobs' : 'cells', blobs, commitments, proofs },
  }
}
