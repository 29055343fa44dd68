import { assert, asyncProperty, bigInt } from 'fast-check'
import { expect, it } from 'vitest'
import type { CallOutcome, MeasuredCall } from '../../../callPorts.ts'
import { searchGas } from './searchGas.ts'

const success: CallOutcome = { kind: 'success', output: new Uint8Array(0) }
const most = 30_000_000n

/** A message that needs `need` gas, uses `used` of it, and gets `refund` of these back. */
function message(need: bigint, used: bigint, refund: bigint) {
  const tried: bigint[] = []
  const run = (gasLimit: bigint): MeasuredCall => {
    tried.push(gasLimit)
    if (gasLimit >= need) return { outcome: success, gasUsed: used - refund, gasRefunded: refund }
    return { outcome: { kind: 'halt', reason: 'out of gas' }, gasUsed: gasLimit, gasRefunded: 0n }
  }
  return { tried, run, first: { outcome: success, gasUsed: used - refund, gasRefunded: refund } }
}

/** The estimate of clients that run the message for each step of the search. */
function estimateOfRuns(need: bigint, used: bigint, refund: bigint): bigint {
  let [low, high] = [used - refund - 1n, most]
  let last = used - refund
  const step = (limit: bigint): void => {
    last = limit >= need ? used - refund : limit
    if (limit >= need) high = limit
    else low = limit
  }
  const hopeful = ((used + 2_300n) * 64n) / 63n
  if (hopeful < high) step(hopeful)
  for (let first = true; low + 1n < high && Number(high - low) / Number(high) >= 0.015; first = false) {
    const middle = (low + high) / 2n
    step(first && last * 3n < middle ? last * 3n : middle)
  }
  return high
}

const used = bigInt({ min: 21_000n, max: 20_000_000n })
const percent = bigInt({ min: 0n, max: 20n })

it('rpc/methods/eth/calls/searchGas: one run confirms the estimate of a message that needs what it uses', async () => {
  await assert(
    asyncProperty(used, percent, async (gas, refunded) => {
      const refund = (gas * refunded) / 100n
      const { first, run, tried } = message(gas, gas, refund)
      const found = await searchGas(first, most, run)
      expect(found).toBe(estimateOfRuns(gas, gas, refund))
      expect(tried).toEqual(found === most ? [] : [found])
    }),
    { seed: 20_261_123, numRuns: 500 },
  )
})

it('rpc/methods/eth/calls/searchGas: finds the same estimate as runs alone when a message needs more than it uses', async () => {
  await assert(
    asyncProperty(used, percent, bigInt({ min: 100n, max: 150n }), async (gas, refunded, needed) => {
      const [refund, need] = [(gas * refunded) / 100n, (gas * needed) / 100n]
      const { first, run, tried } = message(need, gas, refund)
      const found = await searchGas(first, most, run)
      expect(found).toBeGreaterThanOrEqual(need)
      expect(found).toBe(estimateOfRuns(need, gas, refund))
      expect([most, ...tried]).toContain(found)
      expect(tried.length).toBeLessThan(20)
    }),
    { seed: 20_261_123, numRuns: 500 },
  )
})
