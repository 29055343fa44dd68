import { bytesFromBigint, concatBytes, equalBytes, numberFromBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { RlpError } from '#lib/rlp'
import type { Block } from '#types/block'
import { type Deposit, decodeDeposit, encodeDeposit } from '#types/deposit'
import { type Address, parseAddress } from '#types/ids'
import { depositType } from '#types/transaction'
import { baseTimeAddress, depositorAccount } from './addresses.ts'
import { readDataText } from './dataFile.ts'
import { baseTimeSource } from './sourceHash.ts'

/** Address and runtime code of the implementation that the first Denim block installs. @see base/contracts, src/L2/BaseTime.sol */
export const baseTimeImplementation: Address = parseAddress('0xc0d3c0d3c0d3c0d3c0d3c0d3c0d3c0d3c0d30030')
export const baseTimeCode: Uint8Array = fromHex(readDataText('baseTime.hex'))

/** Index of the BaseTime deposit in every Denim block, after the L1 attributes. */
export const baseTimeIndex = 1

/** `setTimestampMillisPart(uint16)` */
const selector = fromHex('0x86bdf394')
const dataBytes = 36
const gasLimit = 1_000_000n

/**
 * Encodes the deposit that sets the milliseconds of a block's time.
 * @param number of the L2 block
 * @param millisPart milliseconds that the header timestamp leaves out
 * @returns EIP-2718 bytes
 */
export function encodeBaseTimeDeposit(number: number, millisPart: number): Uint8Array {
  return encodeDeposit({
    type: depositType,
    sourceHash: baseTimeSource(number),
    from: depositorAccount,
    to: baseTimeAddress,
    mint: 0n,
    value: 0n,
    gasLimit,
    isSystemTransaction: false,
    data: concatBytes(selector, bytesFromBigint(BigInt(millisPart), 32)),
  })
}

/** Result of `readBaseTime`. */
export type BaseTimeReading =
  | { readonly kind: 'read'; readonly millisPart: number }
  | { readonly kind: 'malformed'; readonly reason: string }

const malformed = (reason: string): BaseTimeReading => ({ kind: 'malformed', reason })

function decoded(raw: Uint8Array): Deposit | undefined {
  if (raw[0] !== depositType) return undefined
  try {
    return decodeDeposit(raw)
  } catch (error) {
    if (error instanceof RlpError) return undefined
    throw error
  }
}

const isSetter = ({ from, to, data }: Deposit): boolean =>
  from === depositorAccount && to === baseTimeAddress && data.length >= selector.length && equalBytes(data.subarray(0, 4), selector)

/**
 * Returns a Denim block's time in milliseconds since 1970; undefined for a block before Denim.
 * @param timestampSec of its header
 * @param deposit its transaction at `baseTimeIndex`; the block is valid
 */
export function timeMsWith(timestampSec: number, deposit: Uint8Array | undefined): number | undefined {
  const setter = deposit && decoded(deposit)
  return setter && isSetter(setter) ? timestampSec * 1000 + numberFromBytes(setter.data.subarray(-2)) : undefined
}

/** Returns a Denim block's time in milliseconds since 1970, read from its body; undefined for a block before Denim. */
export function timeMsOfBlock({ header, transactions }: Pick<Block, 'header' | 'transactions'>): number | undefined {
  return timeMsWith(header.timestamp, transactions[baseTimeIndex])
}

/** Returns the index of the first transaction, other than the one at `except`, that sets the milliseconds in the name of the protocol; -1 without one. */
export function baseTimeSetterIndex(transactions: readonly Uint8Array[], except?: number): number {
  return transactions.findIndex((raw, index) => {
    if (index === except) return false
    const deposit = decoded(raw)
    return deposit !== undefined && isSetter(deposit)
  })
}

function fieldRefusal(deposit: Deposit, number: number): string | undefined {
  if (deposit.sourceHash !== baseTimeSource(number)) return `source hash ${deposit.sourceHash}, ${baseTimeSource(number)} expected`
  if (deposit.from !== depositorAccount) return `sender ${deposit.from}`
  if (deposit.to !== baseTimeAddress) return `recipient ${deposit.to}`
  if (deposit.mint !== 0n) return `mint ${deposit.mint}`
  if (deposit.value !== 0n) return `value ${deposit.value}`
  if (deposit.gasLimit !== gasLimit) return `gas limit ${deposit.gasLimit}, ${gasLimit} expected`
  return deposit.isSystemTransaction ? 'system transaction flag' : undefined
}

function readMillisPart(data: Uint8Array): BaseTimeReading {
  if (data.length !== dataBytes || !equalBytes(data.subarray(0, 4), selector)) return malformed('calldata')
  if (data.subarray(4, 34).some((byte) => byte !== 0)) return malformed('calldata padding')
  const millisPart = numberFromBytes(data.subarray(34))
  return millisPart < 1000 && millisPart % 200 === 0 ? { kind: 'read', millisPart } : malformed(`milliseconds ${millisPart}`)
}

/**
 * Reads the milliseconds of a Denim block's time from its transactions, which must hold exactly one BaseTime deposit, at index 1.
 * @param number of the L2 block
 * @see Base's documentation, "Denim", BaseTime
 */
export function readBaseTime(transactions: readonly Uint8Array[], number: number): BaseTimeReading {
  const raw = transactions[baseTimeIndex]
  if (raw === undefined) return malformed('missing BaseTime metadata deposit at tx[1]')
  const deposit = decoded(raw)
  if (deposit === undefined) return malformed('BaseTime metadata transaction is not a deposit')
  const refusal = fieldRefusal(deposit, number)
  if (refusal !== undefined) return malformed(`invalid BaseTime metadata deposit: ${refusal}`)
  const reading = readMillisPart(deposit.data)
  if (reading.kind === 'malformed') return malformed(`invalid BaseTime metadata deposit: ${reading.reason}`)
  const additional = baseTimeSetterIndex(transactions, baseTimeIndex)
  return additional === -1 ? reading : malformed(`additional protocol-authorized BaseTime setter at tx[${additional}]`)
}
