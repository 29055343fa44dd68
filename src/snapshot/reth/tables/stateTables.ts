import { bigintFromBytes, u32At, u64FromBytes } from '#lib/bytes'
import { u16Le } from '../littleEndian.ts'

/** An account as a row of HashedAccounts holds it. */
export type AccountValue = {
  readonly nonce: bigint
  /** wei */
  readonly balance: bigint
  /** undefined: no code */
  readonly codeHash: Uint8Array | undefined
}

/** Longest code that is read. Fork rules allow less. */
const maxCodeBytes = 1 << 20
const wordBytes = 32
const delegationBytes = 23

/** Bytes without a leading zero. */
const isTrimmed = (bytes: Uint8Array): boolean => bytes[0] !== 0

/**
 * Decodes a value of HashedAccounts: two flag bytes (4 bits length of the nonce, 6 bits length of the balance, 1 bit code hash present), nonce and balance
 * big-endian without leading zeros, code hash.
 * @returns undefined for other bytes
 */
export function decodeAccountValue(value: Uint8Array): AccountValue | undefined {
  if (value.length < 2) return undefined
  const flags = u16Le(value, 0)
  const nonceBytes = flags & 0xf
  const balanceBytes = (flags >> 4) & 0x3f
  const hasCode = (flags >> 10) & 1
  const balanceAt = 2 + nonceBytes
  const hashAt = balanceAt + balanceBytes
  const isSized = flags >> 11 === 0 && nonceBytes <= 8 && balanceBytes <= wordBytes && value.length === hashAt + wordBytes * hasCode
  if (!isSized) return undefined
  const nonce = value.subarray(2, balanceAt)
  const balance = value.subarray(balanceAt, hashAt)
  if (!isTrimmed(nonce) || !isTrimmed(balance)) return undefined
  return {
    nonce: bigintFromBytes(nonce),
    balance: bigintFromBytes(balance),
    codeHash: hasCode === 1 ? value.subarray(hashAt) : undefined,
  }
}

/**
 * Checks a value of HashedStorages: keccak(slot), then the slot's value big-endian without leading zeros. A slot of zero has no row.
 * @returns whether the bytes from 32 on are a value
 */
export const isStorageValue = (value: Uint8Array): boolean => {
  const length = value.length - wordBytes
  return length > 0 && length <= wordBytes && value[wordBytes] !== 0
}

/**
 * Decodes a value of Bytecodes: length (u32 big-endian), bytes, kind, rest. Kind 0: plain code. Kind 2: analysed code, padded; the rest begins with
 * the length of the code (u64 big-endian). Kind 4: a delegation of EIP-7702.
 * @returns the code, or undefined for other bytes. The caller compares its hash with the key
 */
export function decodeCodeValue(value: Uint8Array): Uint8Array | undefined {
  if (value.length < 5) return undefined
  const length = u32At(value, 0)
  const kindAt = 4 + length
  if (length > 2 * maxCodeBytes || kindAt >= value.length) return undefined
  const bytes = value.subarray(4, kindAt)
  const rest = value.subarray(kindAt + 1)
  const kind = value[kindAt]
  if (kind === 0) return bytes.length <= maxCodeBytes ? bytes : undefined
  if (kind === 4) return bytes.length === delegationBytes ? bytes : undefined
  if (kind !== 2 || rest.length < 8 || (rest[0] ?? 0) !== 0 || (rest[1] ?? 0) !== 0) return undefined
  const codeBytes = u64FromBytes(rest)
  return codeBytes <= maxCodeBytes && codeBytes <= length ? bytes.subarray(0, codeBytes) : undefined
}
