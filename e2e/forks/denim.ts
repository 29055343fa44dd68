import { concatHex, type Hex, numberToHex, pad } from 'viem'
import { expect } from 'vitest'
import { type Block, type BlockWithReceipts, quantity, type Rpc } from './reader.ts'
import { dueMs, type Rollup, sourceHash } from './rules.ts'

const baseTime = '0x4200000000000000000000000000000000000030'
const depositor = '0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001'
const implementation = '0xc0d3c0d3c0d3c0d3c0d3c0d3c0d3c0d3c0d30030'
/** slot of the implementation. @see EIP-1967 */
const implementationSlot = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'

/** Checks the time of a Denim block: its deposit at index 1, and the fields of its JSON. @see Base's documentation, "Denim", BaseTime */
export function checkBaseTime(name: string, rollup: Rollup, { block, receipts }: BlockWithReceipts): void {
  const number = Number(block.number)
  const ms = dueMs(rollup, number)
  expect(block.transactions[1], `${name}: BaseTime deposit`).toMatchObject({
    type: '0x7e',
    from: depositor,
    to: baseTime,
    value: '0x0',
    gas: '0xf4240',
    input: concatHex(['0x86bdf394', numberToHex(ms % 1_000, { size: 32 })]),
    sourceHash: sourceHash(3, numberToHex(number, { size: 32 })),
  })
  expect(receipts[1]?.status, `${name}: BaseTime deposit`).toBe('0x1')
  expect(block.timestampMs, `${name}: timestampMs`).toBe(quantity(ms))
  const times = [...block.transactions, ...receipts.flatMap(({ logs }) => logs)].map(({ blockTimestampMs }) => blockTimestampMs)
  expect(new Set(times), `${name}: blockTimestampMs`).toEqual(new Set([quantity(ms)]))
}

/** Checks BaseTime on the state of the last block before Denim and of the first blocks. @param first number of the first Denim block */
export async function checkBaseTimeState(rpc: Rpc, rollup: Rollup, first: number): Promise<void> {
  const at = (number: number) => ({
    code: rpc<Hex>('eth_getCode', implementation, quantity(number)),
    slot: rpc<Hex>('eth_getStorageAt', baseTime, implementationSlot, quantity(number)),
    millisPart: rpc<Hex>('eth_getStorageAt', baseTime, '0x0', quantity(number)),
  })
  const before = at(first - 1)
  expect([await before.code, await before.slot]).toEqual(['0x', pad('0x0', { size: 32 })])
  for (const number of [first, first + 1, first + 5]) {
    const { code, slot, millisPart } = at(number)
    expect((await code).length, `code of block ${number}`).toBe(2 + 2 * 878)
    expect(await slot).toBe(pad(implementation, { size: 32 }))
    expect(Number(await millisPart)).toBe(dueMs(rollup, number) % 1_000)
    // timestampMs()
    expect(await rpc('eth_call', { to: baseTime, data: '0x5745a677' }, quantity(number))).toBe(
      numberToHex(dueMs(rollup, number), { size: 32 }),
    )
  }
}

/** Checks the parameters of gas around the first Denim block: a tenth of the gas limit, ten times the denominator. */
export function checkScaling(before: Block | undefined, first: Block | undefined): void {
  const denominator = ({ extraData }: Block): number => Number(`0x${extraData.slice(4, 12)}`)
  if (before === undefined || first === undefined) throw new Error('no block at the activation of Denim')
  expect([Number(before.gasLimit), denominator(before)]).toEqual([90_000_000, 100])
  expect([Number(first.gasLimit), denominator(first)]).toEqual([9_000_000, 1_000])
}

/** Checks that `eth_config` names Denim, and no fork after it. @param denimSec its activation time */
export async function checkConfig(rpc: Rpc, denimSec: number): Promise<void> {
  const config = await rpc<{ current: { precompiles: object } }>('eth_config')
  expect(config).toMatchObject({ current: { activationTime: denimSec }, next: null, last: null })
  expect(Object.keys(config.current.precompiles)).toHaveLength(18)
}
