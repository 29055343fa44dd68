import { describe, expect, it } from 'vitest'
import { concatBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { decodeDeposit } from '#types/deposit'
import { type Hash, parseAddress, parseHash, zeroHash } from '#types/ids'
import type { Log } from '#types/log'
import { createReceipt, type Receipt } from '#types/receipt'
import { userDeposits } from './deposits.ts'
import { userDepositSource } from './sourceHash.ts'

const portal = parseAddress(`0x${'bb'.repeat(20)}`)
const topic = parseHash('0xb3813568d9991fc951961fcb4c784893574240a28925604d09fc577c55bb7c32')
const block = parseHash(`0x${'0b'.repeat(32)}`)
const word = (value: bigint | number): string => value.toString(16).padStart(64, '0')
const from = parseAddress(`0x${'a1'.repeat(20)}`)
const to = parseAddress(`0x${'a2'.repeat(20)}`)

const opaque = (isCreation: number, data = ''): string => `${word(5)}${word(3)}${'000000000001e240'}0${isCreation}${data}`
/** Returns the ABI encoding of one `bytes` argument. */
function abi(hex: string, offset = 32, length = hex.length / 2): Uint8Array {
  const padded = hex.padEnd(Math.ceil(hex.length / 64) * 64, '0')
  return fromHex(`0x${word(offset)}${word(length)}${padded}`)
}
const topics = (version: Hash = zeroHash): Hash[] => [
  topic,
  parseHash(`0x${word(BigInt(from))}`),
  parseHash(`0x${word(BigInt(to))}`),
  version,
]
const deposit = (data: Uint8Array, others: Partial<Log> = {}): Log => ({ address: portal, topics: topics(), data, ...others })
const other: Log = { address: to, topics: [], data: new Uint8Array() }
const receiptOf = (logs: readonly Log[], succeeded = true): Receipt => createReceipt({ type: 2, succeeded, cumulativeGasUsed: 1n, logs })

describe('chainspec/deposits', () => {
  it('returns one deposit per portal log; the source hash counts the logs of all successful transactions', () => {
    const receipts = [
      receiptOf([other, deposit(abi(opaque(0, 'c0ffee')))]),
      receiptOf([deposit(abi(opaque(0)))], false),
      receiptOf([deposit(abi(opaque(1)))]),
    ]
    const [call, creation, ...rest] = userDeposits(portal, block, receipts).map(decodeDeposit)
    expect(rest).toEqual([])
    expect(call).toEqual({
      type: 0x7e,
      sourceHash: userDepositSource(block, 1),
      from,
      to,
      mint: 5n,
      value: 3n,
      gasLimit: 123_456n,
      isSystemTransaction: false,
      data: fromHex('0xc0ffee'),
    })
    expect(creation).toMatchObject({ to: null, sourceHash: userDepositSource(block, 2), data: fromHex('0x') })
  })

  it('ignores logs of other contracts and other events of the portal', () => {
    const elsewhere = deposit(abi(opaque(0)), { address: to })
    const event = deposit(abi(opaque(0)), { topics: [block] })
    expect(userDeposits(portal, block, [receiptOf([elsewhere, event, deposit(abi(''), { topics: [] })])])).toEqual([])
  })

  it.each([
    ['another version', deposit(abi(opaque(0)), { topics: topics(block) })],
    ['three topics', deposit(abi(opaque(0)), { topics: topics().slice(0, 3) })],
    ['no data', deposit(new Uint8Array())],
    ['half a word', deposit(concatBytes(abi(opaque(0)), new Uint8Array(16)))],
    ['another offset', deposit(abi(opaque(0), 64))],
    ['a length beyond the data', deposit(abi(opaque(0), 32, 97))],
    ['an extra word of padding', deposit(abi(opaque(0), 32, 64))],
    ['72 bytes of content', deposit(abi(opaque(0).slice(2)))],
  ])('rejects the configured portal when a log has %s (MALFORMED_DEPOSIT)', (_what, log) => {
    expect(() => userDeposits(portal, block, [receiptOf([log])])).toThrow(
      expect.objectContaining({ code: 'MALFORMED_DEPOSIT', severity: 'fatal' }),
    )
  })
})
